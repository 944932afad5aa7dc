//! Samples of the reference page that keep a copy of all courses, against a server with a rate limit.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, mem, thread};

use serde_json::{Value, json};

use super::samples::code_on;
use super::typescript::{MANIFESTS, compile};
use crate::observed::Observed;
use crate::program::{DEADLINE, TestDir, exchange, is_installed};
use crate::skip::or_skip_unless;
use crate::tools::{npm_packages, run};

/// Number of courses, of which every seventh is a draft or hidden.
const COURSES: usize = 140;
/// Number of courses that a client may show.
const PUBLISHED: f64 = 120.0;
/// Number of courses on the last page.
const ON_LAST_PAGE: f64 = 40.0;

/// A server with a limit of 60 requests in 2 s, and a program that keeps a copy.
struct Client {
    dir: TestDir,
    observed: Observed,
    key: String,
    program: &'static [&'static str],
}

impl Client {
    /// Writes the sample in `language` to `file`.
    fn start(courses: &[Value], language: &str, file: &str, program: &'static [&'static str]) -> Self {
        let dir = TestDir::new();
        import(&dir, courses, "");
        let key = dir.key("a").1;
        let observed = Observed::start(&dir, "--rate-limit 60/2s --log warn");
        let address = &observed.server.address;
        let page = exchange(address, "GET /docs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap().body;
        dir.write(file, code_on(&page, address, &format!("Keep a copy in sync in {language}")));
        Self { dir, observed, key, program }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program[0]);
        command.args(&self.program[1..]).current_dir(self.dir.path(""));
        command.env("API_KEY", &self.key).env("NO_PROXY", "127.0.0.1");
        command
    }

    fn state(&self) -> Value {
        let text = fs::read_to_string(self.dir.path("copy.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Runs the program until it has saved the first page of a pass, and ends it in the middle of the next page.
    fn interrupt(&self) {
        let mut child = self.command().spawn().unwrap();
        let begin = Instant::now();
        while self.state()["next"].as_str().is_none_or(str::is_empty) {
            assert!(begin.elapsed() < DEADLINE && child.try_wait().unwrap().is_none(), "the program saved no page");
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Runs the program to its end. Asserts that the copy has exactly the published ones of `courses`, and returns the
    /// number of responses with status 200 and 304.
    fn assert_copies(&self, courses: &[Value]) -> [f64; 2] {
        let before = self.responses();
        run(&mut self.command());
        let copy = self.state()["courses"].as_object().unwrap().clone();
        let copied: BTreeMap<_, _> = copy.into_iter().map(|(slug, mut course)| (slug, course["data"].take())).collect();
        let expected: BTreeMap<_, _> = courses.iter().filter_map(published).collect();
        assert!(copied == expected, "{copied:#?}");
        let after = self.responses();
        [after[0] - before[0], after[1] - before[1]]
    }

    /// Returns the number of responses with status 200 and 304 so far.
    fn responses(&self) -> [f64; 2] {
        let metrics = self.observed.metrics();
        [200, 304].map(|status| {
            let count = |operation| {
                metrics[&format!("catalogue_http_requests_total{{operation=\"{operation}\",status=\"{status}\"}}")]
            };
            count("listCourses") + count("getCourse")
        })
    }
}

fn import(dir: &TestDir, courses: &[Value], options: &str) {
    let lines: String = courses.iter().map(|course| format!("{course}\n")).collect();
    dir.write("courses.jsonl", format!("{}\n{lines}", json!({ "type": "account", "id": "a", "name": "A" })));
    dir.run(&format!("import {options} courses.jsonl")).succeeds();
}

/// Returns a course as an import line.
fn course(number: usize) -> Value {
    let published = (!number.is_multiple_of(14)).then_some("2026-02-03T04:05:06.000Z");
    json!({
        "type": "course", "account": "a", "slug": format!("course {number}: été?"), "title": format!("Course {number}"),
        "tagline": "", "language": "en", "createdAt": format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60),
        "publishedAt": published, "hidden": number % 14 == 7, "accessMode": null,
        "modules": [{ "title": "First", "summary": "Summary" }],
    })
}

/// Returns the slug and the details of a course that clients may show.
fn published(course: &Value) -> Option<(String, Value)> {
    let slug = course["slug"].as_str().unwrap().to_owned();
    let mut detail = course.clone();
    for name in ["type", "account", "createdAt"] {
        detail.as_object_mut().unwrap().remove(name);
    }
    detail["modules"][0]["number"] = 1.into();
    (!course["publishedAt"].is_null() && course["hidden"] == false).then_some((slug, detail))
}

fn copy_follows_all_changes(language: &str, file: &str, program: &'static [&'static str], prepare: impl FnOnce(&Path)) {
    let mut courses: Vec<Value> = (0..COURSES).map(course).collect();
    let client = Client::start(&courses, language, file, program);
    prepare(&client.dir.path(""));

    client.interrupt();
    assert_eq!(client.state()["courses"], json!({}), "an unfinished pass is not a copy");
    client.assert_copies(&courses);
    let [read, _] = client.responses();
    assert!(read < PUBLISHED + ON_LAST_PAGE + 4.0, "the program resumes with the last page: {read}");
    assert!(client.observed.metrics()["catalogue_limits_exceeded_total{limit=\"credential\"}"] > 0.0);

    assert_eq!(client.assert_copies(&courses), [0.0, PUBLISHED + 2.0], "nothing changed");

    courses[8]["modules"][0]["summary"] = "Another summary".into();
    import(&client.dir, &courses, "");
    client.assert_copies(&courses);

    courses.remove(100);
    import(&client.dir, &courses, "--prune");
    client.assert_copies(&courses);
}

/// Listens as a server behind a failing proxy: the first request of the course `kept` gets no response, the course `hidden`
/// was hidden after the list, and the course `removed` was removed. Once the flag is set, each course gets a 404 of the proxy.
fn failing_proxy() -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, is_failing) = (listener.local_addr().unwrap().to_string(), Arc::<AtomicBool>::default());
    let (flag, mut has_dropped) = (is_failing.clone(), false);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            let path = head.collect::<Vec<_>>()[0].split(' ').nth(1).unwrap().to_owned();
            let slug = path.rsplit('/').next().unwrap();
            let course = |slug| json!({ "slug": slug, "publishedAt": "2026-02-03T04:05:06.000Z", "hidden": false });
            let (status, body) = match slug {
                _ if slug.starts_with("courses?") => {
                    let courses = ["kept", "hidden", "removed"].map(course);
                    (200, json!({ "data": courses, "meta": { "nextCursor": null } }).to_string())
                }
                _ if flag.load(Ordering::Relaxed) => (404, "<h1>Not Found</h1>".to_owned()),
                "kept" if !mem::replace(&mut has_dropped, true) => continue,
                "removed" => (404, json!({ "error": { "code": "not_found", "message": "" } }).to_string()),
                _ => {
                    let mut course = course(slug);
                    course["hidden"] = (slug == "hidden").into();
                    (200, json!({ "data": course }).to_string())
                }
            };
            let head =
                format!("HTTP/1.1 {status} Status\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    (address, is_failing)
}

fn copy_survives_failures(language: &str, file: &str, program: &'static [&'static str], prepare: impl FnOnce(&Path)) {
    let (address, is_failing) = failing_proxy();
    let client = Client::start(&[], language, file, program);
    let path = client.dir.path(file);
    let sample = fs::read_to_string(&path).unwrap().replace(&client.observed.server.address, &address);
    fs::write(path, sample).unwrap();
    prepare(&client.dir.path(""));
    let copied = || client.state()["courses"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();

    run(&mut client.command());
    assert_eq!(copied(), ["kept"]);
    is_failing.store(true, Ordering::Relaxed);
    let output = client.command().output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("404"), "{output:?}");
    assert_eq!(copied(), ["kept"]);
}

#[test]
fn python_copy_follows_all_changes() {
    let Some(()) = or_skip_unless("clients", is_installed("python3")) else { return };
    copy_follows_all_changes("Python", "sync.py", &["python3", "sync.py"], |_| {});
}

#[test]
fn python_copy_survives_failures() {
    let Some(()) = or_skip_unless("clients", is_installed("python3")) else { return };
    copy_survives_failures("Python", "sync.py", &["python3", "sync.py"], |_| {});
}

#[test]
fn typescript_copy_follows_all_changes() {
    let Some(packages) = or_skip_unless("clients", npm_packages("typescript", &MANIFESTS)) else { return };
    let compile = |project: &Path| compile(project, &packages, "sync.ts");
    copy_follows_all_changes("TypeScript", "sync.ts", &["node", "sync.js"], compile);
}

#[test]
fn typescript_copy_survives_failures() {
    let Some(packages) = or_skip_unless("clients", npm_packages("typescript", &MANIFESTS)) else { return };
    let compile = |project: &Path| compile(project, &packages, "sync.ts");
    copy_survives_failures("TypeScript", "sync.ts", &["node", "sync.js"], compile);
}
