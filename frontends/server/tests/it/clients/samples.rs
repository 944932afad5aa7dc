//! Samples of the reference page, run with the origin of a test server.
//!
//! If a language is not installed, its samples are skipped with a printed line, unless `CATALOGUE_TEST_REQUIRE` names `ruby`,
//! `php`, or `clients` for Python, Node.js, bash, curl and jq.

use std::fs;
use std::process::Command;

use serde_json::{Deserializer, Value};

use super::service::Service;
use crate::program::{exchange, is_installed};
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

    fn code(&self, label: &str) -> String {
        code_on(&self.page, &self.service.server.address, label)
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

    /// Returns the courses that clients may show, in the order of the list.
    fn published(&self) -> Vec<Value> {
        let mut items = self.service.library.items();
        items.retain(|item| !item["publishedAt"].is_null() && item["hidden"] == false);
        items
    }
}

/// Returns the code with `label` on the page, with the origin of the server at `address`.
pub(crate) fn code_on(page: &str, address: &str, label: &str) -> String {
    let start = format!("data-copy=\"{label}\"><pre tabindex=\"0\"><code>");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {label}"));
    let (code, _) = rest.split_once("</code>").unwrap();
    // Inserts the origin, as the page's script does.
    let origin = "<span class=\"origin\">https://api.example.com</span>";
    let code = code.replace(origin, &format!("http://{address}"));
    assert!(!code.contains('<'), "{code}");
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(code, |code, (escaped, plain)| code.replace(escaped, plain))
}

#[test]
fn quick_start_works_as_pasted() {
    let installed = ["bash", "curl", "jq"].into_iter().try_for_each(is_installed);
    let Some(()) = or_skip_unless("clients", installed) else { return };
    let reference = Reference::start();
    let labels = ["step 1", "step 2", "published courses", "step 3"];
    let [key, first, published, next] = labels.map(|label| reference.code(label));
    let calls = format!("{first}\necho\n{published}\n{next}\n");
    // The key is pasted as the second line. `sh` reads input in blocks, so it gets the lines as an argument.
    let token = reference.service.token();
    let (pasted, arguments) = (format!("{key}\n{token}\n{calls}"), format!("{key}\n{calls}"));
    let dir = &reference.service.dir;
    let items = reference.service.library.items();
    for (program, input, arguments) in [("bash", pasted, vec![]), ("sh", format!("{token}\n"), vec!["-c", &arguments])]
    {
        dir.write("pasted", input);
        let mut shell = Command::new(program);
        shell.args(arguments).stdin(fs::File::open(dir.path("pasted")).unwrap()).env("NO_PROXY", "127.0.0.1");
        let displayed = run(&mut shell);
        let values: Vec<Value> = Deserializer::from_str(&displayed).into_iter().map(Result::unwrap).collect();
        let (pages, courses): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.get("data").is_some());
        let listed = pages.iter().flat_map(|page| page["data"].as_array().unwrap());
        assert_eq!(listed.collect::<Vec<_>>(), items[..4].iter().collect::<Vec<_>>(), "{program}");
        let shown = reference.published().into_iter().filter(|course| items[..2].contains(course));
        assert_eq!(courses, shown.collect::<Vec<_>>().iter().collect::<Vec<_>>(), "{program}");
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
        let courses: Vec<Value> = courses.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(courses, reference.published(), "{language}: every page, in the order of the list");
    }
}
