//! `catalogue demo`

use std::net::TcpListener;
use std::process::Stdio;

use serde_json::Value;

use crate::databases::on_each_database;
use crate::program::{COURSES, Server, TestDir, get};

on_each_database!(demo_adds_to_existing_data);

fn start(dir: &TestDir, arguments: &str) -> (Server, Vec<String>) {
    let mut server = Server::start(dir.command(&format!("demo {arguments}")).stderr(Stdio::piped()));
    let notes = server.notes_until("Ctrl+C");
    (server, notes)
}

/// Sends the request of a `curl` line.
fn run_curl_line(line: &str) -> Value {
    let (_, rest) = line.split_once("-H \"Authorization: Bearer ").unwrap();
    let (token, url) = rest.split_once("\" ").unwrap();
    let (address, path) = url.trim_matches('"').strip_prefix("http://").unwrap().split_once('/').unwrap();
    let (status, body) = get(address, &format!("/{path}"), token);
    assert_eq!(status, 200, "{line}");
    body
}

fn curl_lines(notes: &[String]) -> Vec<&String> {
    notes.iter().filter(|line| line.starts_with("curl ")).collect()
}

#[test]
fn printed_commands_work_and_demo_leaves_no_files() {
    let dir = TestDir::new();
    let (server, notes) = start(&dir, "--listen 127.0.0.1:0");
    assert!(notes.contains(&format!("http://{}/docs", server.address)), "{notes:?}");
    assert_eq!(server.get("/docs", "").0, 200);

    // Commands and links may be longer, as they are copied.
    let is_pasted = |line: &str| line.starts_with("curl ") || line.contains("/sign-in#");
    assert!(notes.iter().all(|line| is_pasted(line) || line.chars().count() < 80), "{notes:?}");

    let lines = curl_lines(&notes);
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.contains(&server.address)));
    assert_eq!(run_curl_line(lines[0])["data"]["userId"], "acc_demo");
    let page = run_curl_line(lines[1]);
    assert!(page["data"].as_array().unwrap().len() == 5 && page["meta"]["nextCursor"].is_string(), "{page}");
    assert!(run_curl_line(lines[2])["data"]["modules"].as_array().unwrap().len() > 1);

    let (_, document) = server.get("/docs/openapi.json", "");
    assert_eq!(document["servers"][0]["url"], format!("http://{}/api/v1", server.address));
    // The example in the document is a course of the demo.
    let operation = &document["paths"]["/courses/{slug}"]["get"];
    let slug = operation["parameters"][0]["example"].as_str().unwrap();
    let examples = operation["responses"]["200"]["content"]["application/json"]["examples"].as_object().unwrap();
    let sample = lines[2].replace("english-for-the-workshop", slug);
    let course = run_curl_line(&sample);
    assert_eq!(course, examples.values().next().unwrap()["value"]);
    let (_, readme) = include_str!("../../../../README.md").split_once("```json\n").unwrap();
    assert_eq!(course, serde_json::from_str::<Value>(readme.split("```").next().unwrap()).unwrap());
    assert_eq!(server.stop_with("TERM"), (Some(0), String::new()));
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

/// On other addresses, a session over plain HTTP could be intercepted.
#[test]
fn developer_settings_are_served_only_on_loopback() {
    let dir = TestDir::new();
    for (listen, status) in [("127.0.0.1:0", 303), ("0.0.0.0:0", 404)] {
        let (server, notes) = start(&dir, &format!("--listen {listen}"));
        let (_, port) = server.address.rsplit_once(':').unwrap();
        assert_eq!(get(&format!("127.0.0.1:{port}"), "/settings", "").0, status, "{listen}");
        for (piece, is_shown) in [("/sign-in#", status == 303), ("The developer settings are off", status == 404)] {
            assert_eq!(notes.iter().any(|line| line.contains(piece)), is_shown, "{piece}: {notes:?}");
        }
    }
}

#[test]
fn demo_uses_free_port_when_default_is_busy() {
    // If the bind fails, another process uses the port, so the port is busy in any case.
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let dir = TestDir::new();
    let (server, notes) = start(&dir, "");
    assert!(server.address != "127.0.0.1:8080");
    run_curl_line(curl_lines(&notes)[0]);
    assert_eq!(server.stop_with("INT").0, Some(0));
}

fn demo_adds_to_existing_data(dir: &TestDir) {
    dir.import(COURSES);
    let database = if dir.is_postgres() { "" } else { "--database sqlite:catalogue.db" };
    for _ in 0..2 {
        let (server, notes) = start(dir, &format!("--listen 127.0.0.1:0 {database}"));
        assert!(notes.last().unwrap().contains("stay in the database"), "{notes:?}");
        assert_eq!(run_curl_line(curl_lines(&notes)[0])["data"]["userId"], "acc_demo");
        run_curl_line(curl_lines(&notes)[1]);
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
    let keys = dir.run("keys list --account acc_demo --json").json();
    assert_eq!(keys.as_array().unwrap().len(), 2);
    assert!(keys.as_array().unwrap().iter().all(|key| key["lastUsedAt"].is_string()), "{keys}");
    let (samples, export) = (include_str!("../../demo/courses.jsonl"), dir.export());
    assert!(COURSES.lines().chain(samples.lines()).all(|line| export.contains(line)), "{export}");
    assert_eq!(export.len(), COURSES.len() + samples.len());
}

/// After signing out, an owner needs another link.
#[test]
fn demo_limits_rate_and_prints_new_link_for_sign_in_page() {
    let dir = TestDir::new();
    let mut server = Server::start(dir.command("demo --listen 127.0.0.1:0 --rate-limit 1/1h").stderr(Stdio::piped()));
    let mut notes = server.take_notes().map(Result::unwrap);
    let welcome: Vec<_> = notes.by_ref().take_while(|line| !line.contains("Ctrl+C")).collect();
    let first = welcome.iter().find(|line| line.contains("/sign-in#")).unwrap();
    let line = curl_lines(&welcome)[0];
    run_curl_line(line);
    let token = line.split("Bearer ").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(server.get("/api/v1/me", token).0, 429);
    assert_eq!(server.get("/settings/sign-in", "").0, 200);
    let second = notes.find(|line| line.contains("/sign-in#")).unwrap();
    assert!(second != *first, "{second}");
}
