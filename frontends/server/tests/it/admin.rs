//! `--admin-listen`: liveness, readiness and metrics.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::observed::{Observed, send};
use crate::program::{COURSES, Server, TestDir};

on_each_database!(ready_checks_database);

#[test]
fn admin_pages_are_separate_from_api() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "");
    let admin = &observed.admin;
    assert_eq!(send(admin, "GET /live HTTP/1.1").0, 200);
    let (status, head, body) = send(admin, "GET /metrics HTTP/1.1");
    assert!(status == 200 && head.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{head}");
    assert!(body.contains("# TYPE catalogue_build_info gauge\ncatalogue_build_info{version=\""), "{body}");
    let (status, head, body) = send(admin, "HEAD /ready HTTP/1.1");
    assert!(status == 200 && head.contains("\r\ncontent-length: ") && body.is_empty(), "{head}{body}");
    for path in ["/", "/live/", "/api/v1/me", "/docs", "/metrics/x"] {
        assert_eq!(send(admin, &format!("GET {path} HTTP/1.1")).0, 404, "{path}");
    }
    let (status, head, _) = send(admin, "POST /live HTTP/1.1\nContent-Length: 0");
    assert!(status == 405 && head.contains("\r\nallow: GET, HEAD\r\n"), "{head}");
    for path in ["/live", "/ready", "/metrics"] {
        assert_eq!(send(&observed.server.address, &format!("GET {path} HTTP/1.1")).0, 404, "{path}");
    }
}

#[test]
fn admin_listener_starts_only_if_configured() {
    let dir = TestDir::new();
    let mut server = Server::start(dir.command("serve --listen 127.0.0.1:0").stderr(Stdio::piped()));
    let notes = server.notes_until("serving");
    assert!(notes.iter().all(|note| !note.contains("admin")), "{notes:?}");
    dir.run("serve --admin-listen nowhere").fails(2, &["--admin-listen", "nowhere"]);
    let address_in_use = server.address.clone();
    dir.run(&format!("serve --admin-listen {address_in_use}"))
        .fails(1, &[&address_in_use, "choose another --admin-listen"]);
}

fn ready_checks_database(dir: &TestDir) {
    dir.import(COURSES);
    let observed = Observed::start(dir, "");
    let ready_body = json!({ "ready": true, "checks": { "server": "ok", "credentials": "ok", "courses": "ok" } });
    assert_eq!(observed.ready(), (200, ready_body.clone()));
    // A table that this build reads is missing.
    dir.host().run("ALTER TABLE modules RENAME TO elsewhere");
    let (status, found) = observed.ready();
    assert_eq!((status, &found["ready"], &found["checks"]["credentials"]), (503, &json!(false), &json!("ok")));
    assert!(found["checks"]["courses"].as_str().unwrap().contains("modules"), "{found}");
    assert_eq!(send(&observed.admin, "GET /live HTTP/1.1").0, 200);
    dir.host().run("ALTER TABLE elsewhere RENAME TO modules");
    assert_eq!(observed.ready(), (200, ready_body));
}

#[test]
fn ready_returns_503_during_startup() {
    let dir = TestDir::new();
    // Nothing listens on port 1.
    let arguments = "serve --database postgres://nobody@127.0.0.1:1/none --wait --admin-listen 127.0.0.1:0";
    let mut child = dir.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let admin = line.trim_end().strip_prefix("admin on http://").unwrap().to_owned();
    let (status, _, body) = send(&admin, "GET /ready HTTP/1.1");
    let live = send(&admin, "GET /live HTTP/1.1").0;
    child.kill().unwrap();
    child.wait().unwrap();
    let found: Value = serde_json::from_str(&body).unwrap();
    let checks = json!({ "server": "starting", "database": "not open yet" });
    assert_eq!((status, live, found), (503, 200, json!({ "ready": false, "checks": checks })));
}

#[test]
fn ready_returns_503_after_sigterm() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--shutdown-grace 10m");
    // Shutdown waits for the rest of an incomplete request head.
    let mut client = TcpStream::connect(&observed.server.address).unwrap();
    client.write_all(b"GET / HT").unwrap();
    observed.server.signal("TERM");
    observed.wait_for_log("stopping");
    let (status, found) = observed.ready();
    assert_eq!((status, &found["checks"]["server"]), (503, &json!("stopping")));
    assert_eq!(send(&observed.admin, "GET /live HTTP/1.1").0, 200);
    assert!(observed.metrics()["catalogue_connections_open"] >= 1.0);
    drop(client);
    assert_eq!(observed.server.wait(), Some(0));
}

/// A low limit of open files allows fewer connections than the test opens.
#[test]
fn admin_pages_respond_at_connection_limit() {
    let dir = TestDir::new();
    let program = env!("CARGO_BIN_EXE_catalogue");
    let script = format!("ulimit -n 120; exec '{program}' serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0");
    let observed = Observed::start_with(&dir, Command::new("sh").args(["-c", &script]).current_dir(dir.path("")));
    let max = observed.metrics()["catalogue_connections_max"];
    let idle: Vec<_> = (0..60).map(|_| TcpStream::connect(&observed.server.address).unwrap()).collect();
    observed.wait_for_metric("catalogue_connections_open", max);
    assert!(max < idle.len() as f64);
    assert_eq!(observed.ready().0, 200);
}
