//! Lines and formats of logs and error messages, and requests while a server's log output is blocked.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::observed::{Observed, samples, send};
use crate::program::{Server, TestDir};

/// Trace and span of the requests of [`send_secrets`].
pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(crate) const PARENT: &str = "00f067aa0ba902b7";

/// Sends five requests that contain secrets. Returns the page of courses in the first response, and all secrets.
pub(crate) fn send_secrets(address: &str, token: &str) -> (Value, [String; 4]) {
    let bearer = format!("Authorization: Bearer {token}");
    let trace = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let list = |query: &str, fields: &str| send(address, &format!("GET /api/v1/courses?{query} HTTP/1.1\n{fields}")).2;
    let page = list("limit=1", &format!("{bearer}\nX-Request-Id: one\n{trace}\ntracestate: s3cret=s3cret"));
    let page: Value = serde_json::from_str(&page).unwrap();
    let cursor = page["meta"]["nextCursor"].as_str().unwrap();
    list(&format!("cursor={cursor}"), &format!("{bearer}\nX-Request-Id: two"));
    list(&format!("access_token={token}"), "X-Request-Id: three");
    for request in [
        format!("HEAD /api/v1/courses/s3cret HTTP/1.1\n{bearer}x\nX-Request-Id: four"),
        format!(
            "S3CRET /s3cret HTTP/1.1\nX-Request-Id: five\nUser-Agent: s3cret\n{trace}\ntraceparent: 00-{TRACE}-s3cret-01"
        ),
    ] {
        send(address, &request);
    }
    let secrets = [token, &token[..16], cursor, "s3cret"].map(str::to_owned);
    (page, secrets)
}

/// Returns the lines about requests.
fn access_lines(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("catalogue::access")).collect()
}

#[test]
fn each_request_is_logged_without_secrets() {
    let dir = TestDir::with_courses();
    let (id, token) = dir.key("a");
    let observed = Observed::start(&dir, "--log-format json");
    let (page, secrets) = send_secrets(&observed.server.address, &token);
    let metrics = send(&observed.admin, "GET /metrics HTTP/1.1").2;
    let admin = observed.admin.clone();
    let log = observed.stop_and_read_log();
    for text in [&log, &metrics] {
        for secret in secrets.iter().map(|secret| &**secret).chain(["S3CRET"]) {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }

    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let output = |message: &str| lines.iter().any(|line| line["message"] == message);
    assert!(output("serving") && output("stopping") && output("stopped"), "{log}");
    assert!(output(&format!("admin on http://{admin}")) && lines.iter().all(|line| line["level"].is_string()), "{log}");
    let requests: Vec<&Value> = lines.iter().filter(|line| line["target"] == "catalogue::access").collect();
    let names =
        ["request_id", "operation", "method", "status", "refusal", "account", "credential", "trace_id", "client"];
    let displayed = |line: &&Value| names.iter().map(|name| line[name].clone()).collect::<Value>();
    assert_eq!(
        requests.iter().map(displayed).collect::<Vec<_>>(),
        [
            json!(["one", "listCourses", "GET", 200, null, "a", id, TRACE, null]),
            json!(["two", "listCourses", "GET", 200, null, "a", id, null, null]),
            json!(["three", "listCourses", "GET", 401, "missing", null, null, null, "127.0.0.1"]),
            json!(["four", "getCourse", "HEAD", 401, "invalid", null, null, null, "127.0.0.1"]),
            json!(["five", "other", "other", 404, null, null, null, null, null]),
        ]
    );
    assert_eq!(requests[0]["bytes"], page.to_string().len());
    assert!(requests.iter().all(|line| line["duration_us"].is_u64()), "{log}");
}

/// Errors that occur before logging starts are JSON, too.
#[test]
fn errors_are_json_if_log_format_is_json() {
    let dir = TestDir::new();
    dir.write("c.toml", "log-format = 'json'\nlisen = 1");
    for (arguments, status, piece) in [
        ("export --log-format json", 1, "catalogue.db"),
        ("serve --log-format=json --lisen 1", 2, "--lisen"),
        ("--log-format json", 2, "requires a subcommand"),
        ("serve --config c.toml", 2, "lisen"),
        ("keys --log-format json", 2, "requires a subcommand"),
    ] {
        let outcome = dir.run(arguments);
        let line: Value = serde_json::from_str(&outcome.err).unwrap_or_else(|_| panic!("{outcome:?}"));
        assert_eq!((outcome.status, &line["level"]), (Some(status), &json!("ERROR")), "{outcome:?}");
        let message = line["message"].as_str().unwrap();
        assert!(message.contains(piece) && !message.starts_with("error"), "{outcome:?}");
        assert!(line["timestamp"].is_string() && outcome.err.lines().count() == 1, "{outcome:?}");
    }
    let errors = dir.run("serve --log-format json --listen here --wait soon").err;
    let errors: Vec<Value> = errors.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(errors.len() == 2 && errors.iter().all(|error_line| error_line["level"] == "ERROR"), "{errors:?}");
    let variables = [("CATALOGUE_LOG_FORMAT", "json"), ("CATALOGUE_LISEN", "x")];
    let warned = dir.run_in(&variables, "config check").err;
    assert_eq!(serde_json::from_str::<Value>(&warned).unwrap()["level"], "WARN", "{warned}");
    let wrong = dir.run_in(&variables, "dance").err;
    assert_eq!(serde_json::from_str::<Value>(&wrong).unwrap()["level"], "ERROR", "{wrong}");
}

/// Logs the client's own address, not the address of the trusted proxy.
#[test]
fn client_address_of_refused_request_is_logged() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--rate-limit 1/1h --trusted-proxies 127.0.0.1");
    for _ in 0..2 {
        let forwarded = "X-Forwarded-For: 192.0.2.7\nAuthorization: Bearer ccat_x";
        send(&observed.server.address, &format!("GET /api/v1/courses HTTP/1.1\n{forwarded}"));
    }
    send(&observed.server.address, "GET /nowhere HTTP/1.1\nX-Forwarded-For: 192.0.2.8");
    let other = "X-Forwarded-For: 192.0.2.7, 192.0.2.9\nAuthorization: Bearer ccat_x";
    assert_eq!(send(&observed.server.address, &format!("GET /api/v1/courses HTTP/1.1\n{other}")).0, 401);
    let log = observed.stop_and_read_log();
    let lines = access_lines(&log);
    for (line, pieces) in lines
        .iter()
        .zip([["status=401", " client=192.0.2.7 "], ["status=429", " limit=\"client_address\" client=192.0.2.7 "]])
    {
        assert!(pieces.iter().all(|piece| line.contains(piece)), "{line}");
    }
    assert!(lines.len() == 4 && lines[2].contains("status=404") && !lines[2].contains("192.0.2"), "{log}");
}

/// Logs the id, never the token: operators investigate the uses of a leaked key after its revocation too.
#[test]
fn id_of_revoked_or_expired_credential_is_logged() {
    let dir = TestDir::with_courses();
    let [revoked, rotated] = [dir.key("a"), dir.key("a")].map(<[String; 2]>::from);
    dir.run(&format!("keys revoke {}", revoked[0])).succeeds();
    dir.run(&format!("keys rotate {} --overlap 0s", rotated[0])).succeeds();
    let unknown = format!("ccat_{}08gEjZ", "0".repeat(43));
    let observed = Observed::start(&dir, "");
    for token in [&revoked[1], &rotated[1], &unknown] {
        send(&observed.server.address, &format!("GET /api/v1/courses HTTP/1.1\nAuthorization: Bearer {token}"));
    }
    let log = observed.stop_and_read_log();
    let lines = access_lines(&log);
    for (line, ([id, token], refusal)) in lines.iter().zip([(&revoked, "revoked"), (&rotated, "expired")]) {
        let named = format!(" account=\"a\" credential=\"{id}\" refusal=\"{refusal}\" client=127.0.0.1 ");
        assert!(line.contains("status=401") && line.contains(&named) && !line.contains(&token[..9]), "{line}");
    }
    assert!(lines[2].contains(" refusal=\"invalid\"") && !lines[2].contains("credential="), "{}", lines[2]);
    for id in [&revoked[0], &rotated[0]] {
        assert_eq!(dir.listed(id)["lastUsedAt"], Value::Null, "a rejected request does not count as a use");
    }
}

#[test]
fn access_lines_can_be_disabled() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--log info,catalogue::access=off");
    send(&observed.server.address, "GET /docs HTTP/1.1");
    let log = observed.stop_and_read_log();
    assert!(access_lines(&log).is_empty() && log.contains("stopped"), "{log}");
}

#[cfg(unix)]
/// If malformed requests were logged, clients could fill the disk with them.
#[test]
fn malformed_requests_are_not_logged() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "");
    let status = |request: &str| send(&observed.server.address, request).0;
    for request in
        ["bad", "GET / HTTP/1.1\nX : y", "GET / HTTP/1.1\nHost: b", "GET / HTTP/1.1\nTransfer-Encoding: gzip, chunked"]
    {
        assert_eq!(status(request), 400, "{request}");
    }
    assert_eq!(status(&format!("GET /{} HTTP/1.1", "x".repeat(17_000))), 431);
    let log = observed.stop_and_read_log();
    let pieces = ["admin on http://", "serving listening=", "created a new database", "stopping grace=", "stopped"];
    assert_eq!(log.lines().count(), pieces.len(), "{log}");
    assert!(pieces.iter().zip(log.lines()).all(|(piece, line)| line.contains(piece)), "{log}");
}

#[test]
fn sighup_reloads_log_filter() {
    let dir = TestDir::new();
    dir.write("c.toml", "log = \"warn\"\n");
    let observed = Observed::start(&dir, "--config c.toml");
    send(&observed.server.address, "GET /docs HTTP/1.1\nX-Request-Id: before");
    dir.write("c.toml", "log = \"info\"\n");
    observed.server.signal("HUP");
    observed.wait_for_log("reloaded the log filter");
    send(&observed.server.address, "GET /docs HTTP/1.1\nX-Request-Id: after");
    dir.write("c.toml", "log = \"warning\"\n");
    observed.server.signal("HUP");
    observed.wait_for_log("cannot reload the log filter; keeping the current one");
    assert!(observed.log().contains("did you mean"), "{}", observed.log());
    send(&observed.server.address, "GET /docs HTTP/1.1\nX-Request-Id: still");
    let log = observed.stop_and_read_log();
    assert!(!log.contains("before") && log.contains("after") && log.contains("still"), "{log}");

    dir.write("c.toml", "log = \"off\"\n");
    let observed = Observed::start(&dir, "--config c.toml --log info");
    observed.server.signal("HUP");
    observed.wait_for_log("reloaded the log filter");
    assert!(observed.stop_and_read_log().contains("stopped"));
}

/// Standard error is a pipe that is not read while requests arrive.
/// Requests succeed, and the number of dropped lines is logged later.
#[test]
fn full_stderr_pipe_does_not_block_requests() {
    let dir = TestDir::new();
    let (reader, writer) = pipe().unwrap();
    let mut command = dir.command("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0");
    let server = Server::start(command.stderr(writer));
    drop(command);
    let mut lines = BufReader::new(reader);
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let admin = first.trim_end().strip_prefix("admin on http://").unwrap();
    let dropped = || samples(&send(admin, "GET /metrics HTTP/1.1").2)["catalogue_log_dropped_lines_total"];

    let mut client = TcpStream::connect(&server.address).unwrap();
    let id = "x".repeat(128);
    let request = format!("HEAD /docs HTTP/1.1\r\nHost: a\r\nX-Request-Id: {id}\r\n\r\n");
    let requests = request.repeat(50);
    let mut responses = BufReader::new(client.try_clone().unwrap());
    // The pipe and the buffer have capacity for about 4,000 lines.
    while dropped() == 0.0 {
        client.write_all(requests.as_bytes()).unwrap();
        let mut heads = 0;
        while heads < 50 {
            let mut line = String::new();
            responses.read_line(&mut line).unwrap();
            heads += usize::from(line == "\r\n");
        }
    }
    let output = lines.by_ref().lines().map(Result::unwrap).find(|line| line.contains("dropped log lines"));
    assert!(output.unwrap().contains(" WARN "));
    // A thread reads the rest, so that the server can shut down gracefully.
    let rest = std::thread::spawn(move || lines.lines().map_while(Result::ok).last());
    assert_eq!(server.stop_with("TERM").0, Some(0));
    assert!(rest.join().unwrap().unwrap().contains("stopped"));
}
