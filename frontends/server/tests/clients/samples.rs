//! Samples of the reference page, run with the origin of a test server.
//!
//! If a language is not installed, its samples are skipped with a printed line, unless `CATALOGUE_TEST_REQUIRE` names `ruby`,
//! `php`, or `clients` for Python, Node.js, bash and curl.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::program::{exchange, is_installed};
use crate::service::Service;
use crate::skip::or_skip_unless;
use crate::tools::run;

/// A running program and its reference page.
struct Reference {
    service: Service,
    page: String,
}

impl Reference {
    fn start() -> Self {
        let service = Service::start();
        let request = "GET /docs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let page = exchange(&service.server.address, request).unwrap().body;
        Self { service, page }
    }

    /// Returns the code with `label`, with the origin of this server.
    fn code(&self, label: &str) -> String {
        let start = format!("data-copy=\"{label}\"><pre><code>");
        let (_, rest) = self.page.split_once(&start).unwrap_or_else(|| panic!("no {label}"));
        let (code, _) = rest.split_once("</code>").unwrap();
        // Inserts the origin, as the page's script does.
        let origin = "<span class=\"origin\">https://api.example.com</span>";
        let code = code.replace(origin, &format!("http://{}", self.service.server.address));
        assert!(!code.contains('<'), "{code}");
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .iter()
            .fold(code, |code, (escaped, plain)| code.replace(escaped, plain))
    }

    /// Returns the output of a sample, which `program` runs from `file`.
    fn output(&self, sample: &str, program: &str, file: &str) -> String {
        self.service.dir.write(file, self.code(sample));
        let mut command = Command::new(program);
        command.arg(file).current_dir(self.service.dir.path(""));
        run(command.env("API_KEY", self.service.token()).env("NO_PROXY", "127.0.0.1"))
    }

    fn get(&self, path: &str) -> Value {
        self.service.server.get(path, self.service.token()).1
    }

    /// Returns the slugs of all courses, in the order of the list.
    fn slugs(&self) -> Vec<Value> {
        self.service.library.items().iter().map(|item| item["slug"].clone()).collect()
    }
}

#[test]
fn quick_start_works_as_pasted() {
    let Some(()) = or_skip_unless("clients", is_installed("bash").and_then(|()| is_installed("curl"))) else { return };
    let reference = Reference::start();
    let [key, first, next] = ["step 1", "step 2", "step 3"].map(|label| reference.code(label));
    let calls = format!("{key}\n{first}\necho\n{next}\n");
    // The key is pasted as the second line. `sh` reads input in blocks, so it gets the lines as an argument.
    let token = reference.service.token();
    let pasted = format!("{key}\n{token}\n{first}\necho\n{next}\n");
    let dir = &reference.service.dir;
    for (program, input, arguments) in [("bash", pasted, vec![]), ("sh", format!("{token}\n"), vec!["-c", &calls])] {
        dir.write("pasted", input);
        let mut shell = Command::new(program);
        shell.args(arguments).stdin(fs::File::open(dir.path("pasted")).unwrap()).env("NO_PROXY", "127.0.0.1");
        let displayed = run(&mut shell);
        let pages: Vec<Value> = displayed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let slugs = pages.iter().flat_map(|page| page["data"].as_array().unwrap()).map(|course| course["slug"].clone());
        assert_eq!(slugs.collect::<Vec<_>>(), reference.slugs()[..4], "{program}");
    }
}

#[test]
fn samples_print_api_responses() {
    let reference = Reference::start();
    // Samples declare no types, so Node.js runs those in TypeScript unchanged.
    for (language, required_by, program, file) in [
        ("curl", "clients", "sh", "sample.sh"),
        ("Python", "clients", "python3", "sample.py"),
        ("TypeScript", "clients", "node", "sample.mjs"),
        ("Ruby", "ruby", "ruby", "sample.rb"),
        ("PHP", "php", "php", "sample.php"),
    ] {
        let needed = if language == "curl" { "curl" } else { program };
        let Some(()) = or_skip_unless(required_by, is_installed(needed)) else { continue };
        let output = |call: &str| reference.output(&format!("{call} in {language}"), program, file);
        let json = |call: &str| serde_json::from_str::<Value>(&output(call)).unwrap();
        assert_eq!(json("GET /me"), reference.get("/api/v1/me"), "{language}");
        if language == "curl" {
            assert_eq!(json("GET /courses"), reference.get("/api/v1/courses?limit=2"));
            continue;
        }
        assert_eq!(json("GET /courses/{slug}")["data"]["slug"], "bread-for-beginners", "{language}");
        let document = reference.get("/docs/openapi.json");
        assert_eq!(json("GET /openapi.json"), document, "{language}: the sample keeps empty objects");
        let courses = output("GET /courses");
        let slugs = courses.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["slug"].take());
        assert_eq!(slugs.collect::<Vec<_>>(), reference.slugs(), "{language}: every page, in the order of the list");
    }
}
