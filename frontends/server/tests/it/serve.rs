//! `catalogue serve`

use std::io::{BufReader, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::json;

use crate::observed::{Observed, send};
use crate::program::{COURSES, Server, TestDir, read_response};

#[test]
fn server_responds_and_exits_0_on_signals() {
    let dir = TestDir::with_courses();
    let token = dir.key("a").1;
    for signal in ["TERM", "INT"] {
        let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log warn"));
        let (status, me) = server.get("/api/v1/me", &token);
        assert_eq!((status, &me["data"]["userId"]), (200, &json!("a")));
        let (status, courses) = server.get("/api/v1/courses", &token);
        let slugs = [0, 1].map(|at| &courses["data"][at]["slug"]);
        assert_eq!((status, slugs), (200, [&json!("zwei"), &json!("one")]));
        assert_eq!(server.get("/api/v1/courses/one", &token).1["data"]["modules"][0]["title"], "M");
        assert_eq!(server.get("/api/v1/courses/one", "ccat_wrong").0, 401);
        assert_eq!(server.get("/docs/openapi.json", "").0, 200);
        assert_eq!(server.stop_with(signal), (Some(0), String::new()), "{signal}");
    }
}

#[test]
fn startup_logs_settings_and_missing_keys() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--log-format json");
    observed.wait_for_log(&format!("\"documents\":\"http://{}/docs\"", observed.server.address));
    assert!(dir.path("catalogue.db").is_file());
    let log = observed.stop_and_read_log();
    assert!(log.contains("created a new database, so API keys get a 401"), "{log}");
    assert!(log.contains("sqlite:catalogue.db") && !log.contains("cleartext"), "{log}");

    dir.import(COURSES);
    dir.write("c.toml", "page-cache = 65536\n");
    let observed = Observed::start(&dir, "--docs-url https://docs.example.com/a --config c.toml");
    observed.wait_for_log("no API key is active, so API keys get a 401; create one with `keys create`\n");
    let address = observed.server.address.clone();
    let log = observed.stop_and_read_log();
    let start = log.lines().find(|line| line.contains("serving listening=")).unwrap();
    for piece in [
        &*address,
        "INFO",
        "sqlite:catalogue.db",
        "\"/api/v1\"",
        " documents=https://docs.example.com/a ",
        "page_cache=65536",
    ] {
        assert!(start.contains(piece), "{piece}: {start}");
    }
    assert!(!log.contains("created a new database"), "{log}");
    let (key, _) = dir.key("b");
    assert!(!Observed::start(&dir, "").stop_and_read_log().contains("no API key is active"));
    dir.run(&format!("keys revoke {key}")).succeeds();
    Observed::start(&dir, "").wait_for_log("no API key is active");
}

#[test]
fn unencrypted_public_listener_gets_warning() {
    let dir = TestDir::with_courses();
    for (arguments, warned) in [
        ("--listen 0.0.0.0:0", true),
        ("--listen 127.0.0.1:0", false),
        ("--listen 0.0.0.0:0 --trusted-proxies 192.0.2.7", false),
    ] {
        let mut command = dir.command(&format!("serve --admin-listen 127.0.0.1:0 {arguments}"));
        let log = Observed::start_with(&dir, &mut command).stop_and_read_log();
        assert_eq!(log.contains("clients send tokens in cleartext"), warned, "{log}");
        let found = dir.run(&format!("doctor {arguments}")).out;
        assert_eq!(found.contains("warning  listen       clients send tokens in cleartext"), warned, "{found}");
    }
}

#[test]
fn settings_are_applied_to_catalogue() {
    let dir = TestDir::with_courses();
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let token = dir.run("tokens create --account a --scope read:courses").succeeds();
    dir.write(
        "c.toml",
        "accept = [\"oauth\"]\nlisten = \"127.0.0.1:0\"\ndocs-title = \"Courses of Example\"\ndocs-keys-url = \"/settings\"\n",
    );
    let mut command = dir.command(
        "serve --base-url https://api.example.com/v1 --config c.toml --docs-contact help@example.com \
         --cors-origin https://app.example.com",
    );
    command.envs([("CATALOGUE_DOCS_URL", "/reference"), ("CATALOGUE_DOCS_KEYS_URL", "https://example.com/keys")]);
    let server = Server::start(&mut command);
    for (path, token, status) in
        [("/v1/courses", &token, 200), ("/v1/courses", &key, 403), ("/api/v1/courses", &token, 404)]
    {
        assert_eq!(server.get(path, token.trim_end()).0, status, "{path}");
    }
    let (status, document) = server.get("/reference/openapi.json", "");
    assert_eq!((status, &document["servers"][0]["url"]), (200, &json!("https://api.example.com/v1")));
    let info = &document["info"];
    assert_eq!((&info["title"], &info["contact"]["email"]), (&json!("Courses of Example"), &json!("help@example.com")));
    assert!(info["description"].as_str().unwrap().contains("(https://example.com/keys)"), "{info}");
    for (request, status, field) in [
        ("GET / HTTP/1.1\nAccept: text/html,*/*;q=0.8", 303, "location: /reference"),
        ("GET / HTTP/1.1\nAccept: */*", 404, ""),
        ("GET /llms.txt HTTP/1.1\nAccept: */*", 200, ""),
        (
            "GET /v1/courses HTTP/1.1\nOrigin: https://app.example.com",
            401,
            "access-control-allow-origin: https://app.example.com",
        ),
    ] {
        let (found, head, _) = send(&server.address, request);
        assert!(found == status && head.to_ascii_lowercase().contains(field), "{request}: {head}");
    }
    let pieces = [
        "--docs-contact",
        "help@example.com",
        "--docs-keys-url",
        "https://example.com/keys or /settings",
        "--docs-title",
    ];
    dir.run("serve --docs-contact nobody --docs-keys-url keys --docs-title []").fails(2, &pieces);
}

#[test]
fn server_works_with_closed_standard_error() {
    let dir = TestDir::new();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let server = Server::start(dir.command("serve --listen 127.0.0.1:0").stderr(writer));
    assert_eq!(server.get("/api/v1/me", "x").0, 401);
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

#[test]
fn second_signal_exits_1_immediately() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --shutdown-grace 10m"));
    // Shutdown waits for the rest of an incomplete request head.
    let mut client = TcpStream::connect(&server.address).unwrap();
    client.write_all(b"GET / HT").unwrap();
    server.signal("TERM");
    while TcpStream::connect(&server.address).is_ok() {}
    assert_eq!(server.stop_with("INT").0, Some(1));
}

/// Idle connections leave enough open files for requests. They are few enough to fit into the listen queue.
#[cfg(unix)]
#[test]
fn idle_connections_do_not_block_requests() {
    let dir = TestDir::with_courses();
    let token = dir.key("a").1;
    let mut command = Command::new("sh");
    let script = format!("ulimit -n 120; exec '{}' serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_catalogue"));
    let server = Server::start(command.args(["-c", &script]).current_dir(dir.path("")));
    let mut first = TcpStream::connect(&server.address).unwrap();
    let idle: Vec<_> = (0..115).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    let fields = format!("Host: a\r\nConnection: close\r\nAuthorization: Bearer {token}");
    write!(first, "GET /api/v1/me HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
    assert_eq!(read_response(&mut BufReader::new(first)).unwrap().status, 200);
    drop(idle);
}

#[test]
fn port_in_use_exits_1() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let dir = TestDir::new();
    for command in ["serve", "demo"] {
        dir.run(&format!("{command} --listen {address}")).fails(1, &[&address, "--listen"]);
    }
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}
