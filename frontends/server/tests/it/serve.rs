//! `catalogue serve`

use std::io::{Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::observed::Observed;
use crate::program::{COURSES, Server, TestDir};

#[test]
fn server_responds_and_exits_0_on_signals() {
    let dir = TestDir::with_courses();
    let token = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    for signal in ["TERM", "INT"] {
        let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log warn"));
        let (status, me) = server.get("/api/v1/me", token.trim_end());
        assert_eq!((status, &me["data"]["userId"]), (200, &json!("a")));
        let (status, courses) = server.get("/api/v1/courses", token.trim_end());
        assert_eq!(
            (status, &courses["data"][0]["slug"], &courses["data"][1]["slug"]),
            (200, &json!("zwei"), &json!("one"))
        );
        assert_eq!(server.get("/api/v1/courses/one", token.trim_end()).1["data"]["modules"][0]["title"], "M");
        assert_eq!(server.get("/api/v1/courses/one", "ccat_wrong").0, 401);
        assert_eq!(server.get("/docs/openapi.json", "").0, 200);
        assert_eq!(server.stop_with(signal), (Some(0), String::new()), "{signal}");
    }
}

#[test]
fn startup_logs_docs_url_and_missing_keys() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--log-format json");
    observed.wait_for_log(&format!("\"documents\":\"http://{}/docs\"", observed.server.address));
    let log = observed.stop_and_read_log();
    assert!(log.contains("created a new database, so API keys get a 401"), "{log}");
    assert!(log.contains("sqlite:catalogue.db") && !log.contains("cleartext"), "{log}");

    dir.write("courses.jsonl", COURSES);
    dir.run("import courses.jsonl").succeeds();
    let observed = Observed::start(&dir, "--docs-url https://docs.example.com/a");
    observed.wait_for_log(" documents=https://docs.example.com/a ");
    observed.wait_for_log("no API key is active, so API keys get a 401; create one with `keys create`\n");
    assert!(!observed.stop_and_read_log().contains("created a new database"));
    let key = dir.run("keys create --account b --name n --scope read:courses --json").json();
    assert!(!Observed::start(&dir, "").stop_and_read_log().contains("no API key is active"));
    dir.run(&format!("keys revoke {}", key["id"].as_str().unwrap())).succeeds();
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
fn address_without_host_listens_on_loopback() {
    let dir = TestDir::new();
    for address in ["0", ":0", "localhost:0"] {
        let server = Server::start(dir.command(&format!("serve --listen {address}")).stderr(Stdio::null()));
        assert!(server.address.starts_with("127.0.0.1:"), "{address}: {}", server.address);
    }
}

#[test]
fn server_uses_changes_of_other_commands() {
    let dir = TestDir::with_courses();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0"));
    let key = dir.run("keys create --account a --name n --scope read:courses --json").json();
    let token = key["token"].as_str().unwrap();
    assert_eq!(server.get("/api/v1/courses", token).1["data"].as_array().unwrap().len(), 2);
    dir.run_reading("{\"type\":\"account\",\"id\":\"a\"}", "import - --prune").succeeds();
    assert_eq!(server.get("/api/v1/courses", token).1["data"], json!([]));
    dir.run(&format!("keys revoke {}", key["id"].as_str().unwrap())).succeeds();
    let (status, refusal) = server.get("/api/v1/courses", token);
    assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("revoked")));
}

#[test]
fn settings_are_applied_to_catalogue() {
    let dir = TestDir::with_courses();
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let token = dir.run("tokens create --account a --scope read:courses").succeeds();
    dir.write("c.toml", "accept = [\"oauth\"]\nlisten = \"127.0.0.1:0\"\n");
    let mut command = dir.command("serve --base-url https://api.example.com/v1 --config c.toml --shutdown-grace 1s");
    let server = Server::start(command.env("CATALOGUE_DOCS_URL", "/reference"));
    assert_eq!(server.get("/v1/courses", token.trim_end()).0, 200);
    assert_eq!(server.get("/v1/courses", key.trim_end()).0, 403);
    assert_eq!(server.get("/api/v1/courses", token.trim_end()).0, 404);
    let (status, document) = server.get("/reference/openapi.json", "");
    assert_eq!((status, &document["servers"][0]["url"]), (200, &json!("https://api.example.com/v1")));
}

/// Returns the head of the response to a `GET` with `accept`, in lower case.
fn head(server: &Server, path: &str, accept: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nAccept: {accept}\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split_once("\r\n\r\n").unwrap().0.to_ascii_lowercase()
}

#[test]
fn root_redirects_browsers_and_serves_llms_txt() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --docs-url /reference"));
    let redirect = head(&server, "/", "text/html,*/*;q=0.8");
    assert!(redirect.starts_with("http/1.1 303 ") && redirect.contains("\r\nlocation: /reference\r\n"), "{redirect}");
    assert!(head(&server, "/", "*/*").starts_with("http/1.1 404 "));
    assert!(head(&server, "/llms.txt", "*/*").starts_with("http/1.1 200 "));
}

#[test]
fn docs_contain_configured_title_and_contact() {
    let dir = TestDir::new();
    dir.write("c.toml", "docs-title = \"Courses of Example\"\ndocs-keys-url = \"/settings\"\n");
    let mut command = dir.command("serve --listen 127.0.0.1:0 --config c.toml --docs-contact help@example.com");
    let server = Server::start(command.env("CATALOGUE_DOCS_KEYS_URL", "https://example.com/keys"));
    let info = server.get("/docs/openapi.json", "").1["info"].take();
    assert_eq!((&info["title"], &info["contact"]["email"]), (&json!("Courses of Example"), &json!("help@example.com")));
    assert!(info["description"].as_str().unwrap().contains("(https://example.com/keys)"), "{info}");
    dir.run("serve --docs-contact nobody --docs-keys-url keys --docs-title []").fails(
        2,
        &[
            "--docs-contact",
            "help@example.com",
            "--docs-keys-url",
            "https://example.com/keys or /settings",
            "--docs-title",
        ],
    );
}

#[test]
fn missing_database_is_created() {
    let dir = TestDir::new();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0"));
    assert!(dir.path("catalogue.db").is_file());
    assert_eq!(server.get("/api/v1/me", "x").0, 401);
}

#[test]
fn startup_and_shutdown_are_logged() {
    let dir = TestDir::new();
    dir.write("c.toml", "page-cache = 65536\n");
    let mut command = dir.command("serve --listen 127.0.0.1:0 --docs-url /reference --config c.toml");
    let mut server = Server::start(command.stderr(Stdio::piped()));
    let mut notes = server.take_notes();
    let start = notes.next().unwrap().unwrap();
    let address = server.address.clone();
    for piece in [&*address, "INFO", "sqlite:catalogue.db", "\"/api/v1\"", "\"/reference\"", "page_cache=65536"] {
        assert!(start.contains(piece), "{piece}: {start}");
    }
    server.stop_with("TERM");
    let rest: Vec<_> = notes.map(Result::unwrap).collect();
    let pieces = ["created a new database", "stopping", "stopped"];
    assert_eq!(rest.len(), pieces.len(), "{rest:?}");
    assert!(rest.iter().zip(pieces).all(|(line, piece)| line.contains(piece)), "{rest:?}");
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
    let token = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let mut command = Command::new("sh");
    let script = format!("ulimit -n 120; exec '{}' serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_catalogue"));
    let server = Server::start(command.args(["-c", &script]).current_dir(dir.path("")));
    let mut first = TcpStream::connect(&server.address).unwrap();
    let idle: Vec<_> = (0..115).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    write!(
        first,
        "GET /api/v1/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        token.trim_end()
    )
    .unwrap();
    let mut response = String::new();
    first.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    drop(idle);
}

#[test]
fn port_in_use_exits_1() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let dir = TestDir::new();
    for command in ["serve", "demo"] {
        dir.run(&format!("{command} --listen {address}")).fails(1, &[&address, "--listen"]);
        dir.run_in(&[("CATALOGUE_LISTEN", &address)], command).fails(1, &[&address]);
    }
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

#[cfg(feature = "redis")]
#[test]
fn all_invalid_settings_are_reported_together() {
    let dir = TestDir::new();
    dir.write("c.toml", "listen = 'here'\nlisen = 'there'\npage-cache = true\nrate-limit-store = 'redis://store'\n");
    let variables = [("CATALOGUE_CONFIG", "c.toml"), ("CATALOGUE_LOG", "loud")];
    let arguments = "--rate-limit much --accept cookie --base-url /x --docs-url /x --tls-cert no.pem --tls-key no.pem";
    let outcome = dir.run_in(&variables, &format!("serve {arguments}"));
    let output = outcome.err.clone();
    let errors = [
        "c.toml: line 2: lisen: no such key",
        "c.toml: line 3: page-cache: invalid size \"true\"",
        "c.toml: line 1: listen: invalid address \"here\"",
        "CATALOGUE_LOG: \"loud\" is not a level",
        "--rate-limit: invalid rate limit \"much\"",
        "--accept: invalid value \"cookie\"",
    ];
    outcome.fails(2, &errors);
    // A conflict of two URLs is reported only if all values are valid.
    assert_eq!(output.lines().count(), errors.len(), "{output}");
    // `config check` also reports the certificate, which `serve` reads only if all settings are valid.
    let checked = dir.run_in(&variables, &format!("config check {arguments}")).err;
    let rest: Vec<_> = checked.lines().filter(|line| !output.contains(line)).collect();
    assert!(rest.len() == 1 && rest[0].starts_with("error: --tls-cert and --tls-key: "), "{checked}");
    assert_eq!(dir.files(), ["c.toml"]);
}
