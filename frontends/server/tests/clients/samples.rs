//! Samples of the reference page, run with the origin of a test server.
//!
//! If a language is not installed, its test prints a line and passes, unless `CATALOGUE_TEST_REQUIRE` names `ruby`, `php`,
//! or `clients` for Python, Node.js, bash and curl.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Server, TestDir};
use crate::tools::{or_skip, or_skip_unless, output_of, run};

/// Number of courses, more than two full pages.
const COURSES: usize = 203;

/// A running program and its reference page.
struct Reference {
    dir: TestDir,
    server: Server,
    key: String,
    page: String,
}

impl Reference {
    fn start() -> Self {
        let dir = TestDir::new();
        dir.write("courses.jsonl", courses());
        dir.run("import courses.jsonl").succeeds();
        let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
        let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log warn"));
        let page = page(&server.address);
        Self { dir, key: key.trim_end().to_owned(), page, server }
    }

    /// Returns the code with `label`, with the origin of this server.
    fn code(&self, label: &str) -> String {
        let start = format!("data-copy=\"{label}\"><pre><code>");
        let (_, rest) = self.page.split_once(&start).unwrap_or_else(|| panic!("no {label}"));
        let (code, _) = rest.split_once("</code>").unwrap();
        // Inserts the origin, as the page's script does.
        let origin = "<span class=\"origin\">https://api.example.com</span>";
        let code = code.replace(origin, &format!("http://{}", self.server.address));
        assert!(!code.contains('<'), "{code}");
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .iter()
            .fold(code, |code, (escaped, plain)| code.replace(escaped, plain))
    }

    /// Asserts that a language's samples print the API's responses. `command` returns the command that runs a file.
    fn assert_samples_print_responses(&self, language: &str, file: &str, command: impl Fn(&Path) -> Command) {
        let show = |call: &str| {
            self.dir.write(file, self.code(&format!("{call} in {language}")));
            let mut command = command(&self.dir.path(file));
            run(command.env("API_KEY", &self.key).env("NO_PROXY", "127.0.0.1").current_dir(self.dir.path("")))
        };
        let me: Value = serde_json::from_str(&show("GET /me")).unwrap();
        assert_eq!(me, self.server.get("/api/v1/me", &self.key).1);
        let course: Value = serde_json::from_str(&show("GET /courses/{slug}")).unwrap();
        assert_eq!(course["data"]["slug"], "bread-for-beginners");
        let document: Value = serde_json::from_str(&show("GET /openapi.json")).unwrap();
        assert_eq!(document, self.server.get("/docs/openapi.json", "").1, "the sample keeps empty objects");

        let list = show("GET /courses");
        let slugs: Vec<Value> =
            list.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["slug"].take()).collect();
        assert_eq!(slugs, (0..COURSES).rev().map(slug).collect::<Vec<_>>(), "every page, in the order of the list");
    }
}

fn page(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /docs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

fn slug(number: usize) -> Value {
    if number == 7 { json!("bread-for-beginners") } else { json!(format!("course-{number}")) }
}

fn courses() -> String {
    let mut lines = vec![json!({ "type": "account", "id": "a", "name": "A", "email": "" })];
    lines.extend((0..COURSES).map(|number| {
        json!({
            "type": "course", "account": "a", "slug": slug(number), "title": "Brot \"backen\" & <mehr>", "tagline": "",
            "language": "de", "createdAt": format!("2020-01-01T00:{:02}:{:02}Z", number / 60, number % 60),
            "publishedAt": null, "hidden": false, "accessMode": null, "modules": [],
        })
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Checks that a program is installed; otherwise returns the reason.
fn installed(name: &str) -> Result<(), String> {
    output_of(Command::new(name).arg("--version")).map(|_| ())
}

fn with(program: &str) -> impl Fn(&Path) -> Command {
    move |file| {
        let mut command = Command::new(program);
        command.arg(file);
        command
    }
}

#[test]
fn quick_start_works_as_pasted() {
    let Some(()) = or_skip(installed("bash")) else { return };
    let Some(()) = or_skip(installed("curl")) else { return };
    let reference = Reference::start();
    let [key, first, next] = ["step 1", "step 2", "step 3"].map(|label| reference.code(label));
    let calls = format!("{key}\n{first}\necho\n{next}\n");
    // The key is pasted as the second line. `sh` reads input in blocks, so it gets the lines as an argument.
    let pasted = format!("{key}\n{}\n{first}\necho\n{next}\n", reference.key);
    for (program, input, arguments) in
        [("bash", pasted, vec![]), ("sh", reference.key.clone() + "\n", vec!["-c", &calls])]
    {
        reference.dir.write("pasted", input);
        let mut shell = Command::new(program);
        shell.args(arguments).stdin(fs::File::open(reference.dir.path("pasted")).unwrap()).env("NO_PROXY", "127.0.0.1");
        let displayed = run(&mut shell);
        let pages: Vec<Value> = displayed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let slugs = pages.iter().flat_map(|page| page["data"].as_array().unwrap()).map(|course| course["slug"].clone());
        assert_eq!(slugs.collect::<Vec<_>>(), (COURSES - 4..COURSES).rev().map(slug).collect::<Vec<_>>(), "{program}");
    }
}

#[test]
fn curl_samples_print_api_responses() {
    let Some(()) = or_skip(installed("curl")) else { return };
    let reference = Reference::start();
    for (call, path) in [("GET /me", "/me"), ("GET /courses", "/courses?limit=2")] {
        reference.dir.write("sample.sh", reference.code(&format!("{call} in curl")));
        let mut shell = with("sh")(&reference.dir.path("sample.sh"));
        let displayed = run(shell.env("API_KEY", &reference.key).env("NO_PROXY", "127.0.0.1"));
        let response = reference.server.get(&format!("/api/v1{path}"), &reference.key).1;
        assert_eq!(serde_json::from_str::<Value>(&displayed).unwrap(), response, "{call}");
    }
}

#[test]
fn python_samples_print_api_responses() {
    let Some(()) = or_skip(installed("python3")) else { return };
    Reference::start().assert_samples_print_responses("Python", "sample.py", with("python3"));
}

#[test]
fn typescript_samples_print_api_responses() {
    let Some(()) = or_skip(installed("node")) else { return };
    // The samples declare no types, so Node.js runs them unchanged.
    Reference::start().assert_samples_print_responses("TypeScript", "sample.mjs", with("node"));
}

#[test]
fn ruby_samples_print_api_responses() {
    let Some(()) = or_skip_unless("ruby", installed("ruby")) else { return };
    Reference::start().assert_samples_print_responses("Ruby", "sample.rb", with("ruby"));
}

#[test]
fn php_samples_print_api_responses() {
    let Some(()) = or_skip_unless("php", installed("php")) else { return };
    Reference::start().assert_samples_print_responses("PHP", "sample.php", with("php"));
}
