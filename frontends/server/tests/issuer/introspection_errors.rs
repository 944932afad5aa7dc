//! Errors of the introspection endpoint, and invalid options.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use crate::issuer::{courses, refusal};
use crate::observed::Observed;
use crate::program::TestDir;

const ISSUER: &str = "--oauth-issuer https://id.example.com --oauth-keys file:none --oauth-audience a";

/// Starts a server that introspects tokens at `endpoint`.
fn serve(dir: &TestDir, endpoint: &str) -> Observed {
    dir.write("secret", "s");
    let options = format!("--oauth-introspection {endpoint} --oauth-client-id c --oauth-client-secret file:secret");
    Observed::start(dir, &format!("{ISSUER} {options}"))
}

/// Starts an endpoint that sends `response` on each connection.
fn endpoint(response: &[u8]) -> String {
    let response = response.to_vec();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/introspect?tenant=1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"token_type_hint=access_token") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            // Ignore the error: the client may disconnect early.
            let _ = stream.write_all(&response);
        }
    });
    endpoint
}

#[test]
fn malformed_introspection_response_returns_500_and_is_logged() {
    let large = format!("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n{}", " ".repeat(300_000));
    for (response, why) in [
        (&b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"[..], "302 Found"),
        (b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "503 Service Unavailable"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", "not a JSON object"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"sub\":\"acc_1\"}", "no boolean `active`"),
        (large.as_bytes(), "length limit exceeded"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx", "has the Content-Encoding"),
        (b"no HTTP at all", "invalid HTTP"),
    ] {
        let dir = TestDir::with_courses();
        let endpoint = endpoint(response);
        let observed = serve(&dir, &endpoint);
        let (status, challenge, _) = refusal(&observed, "opaque-text");
        assert_eq!((status, &*challenge), (500, ""), "{why}");
        observed.wait_for_log("a request failed");
        let log = observed.stop_and_read_log();
        assert!(log.contains(why) && !log.contains("opaque-text"), "{why}: {log}");
    }
}

/// Issuers report refresh tokens as active, even if the request is about access tokens.
#[test]
fn refresh_token_is_refused() {
    for (message, status) in [
        (r#""token_use":"refresh_token""#, 401),
        (r#""token_type":"DPoP""#, 401),
        (r#""typ":"Refresh""#, 401),
        (r#""typ":"Bearer","token_type":"bearer","token_use":"access_token""#, 200),
    ] {
        let dir = TestDir::with_courses();
        let claims = r#""active":true,"aud":"a","sub":"a","exp":4000000000,"scope":"read:courses""#;
        let body = format!("{{{claims},{message}}}");
        let endpoint = endpoint(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let observed = serve(&dir, &endpoint);
        assert_eq!(courses(&observed, "opaque-text"), status, "{message}");
        let options = format!("--oauth-introspection {endpoint} --oauth-client-id c --oauth-client-secret file:secret");
        let output = dir.run_reading("opaque-text", &format!("tokens check {ISSUER} {options}"));
        assert_eq!(output.out.contains("is rejected: not an access token"), status == 401, "{output:?}");
    }
}

/// The listener never accepts: the connection is established, but no response comes.
#[test]
fn unresponsive_issuer_times_out_after_2_seconds() {
    let dir = TestDir::with_courses();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let observed = serve(&dir, &format!("http://{}/", listener.local_addr().unwrap()));
    assert_eq!(courses(&observed, "opaque-text"), 500);
    observed.wait_for_log("no response within 2s");
}

#[test]
fn invalid_options_exit_2_with_hint() {
    let dir = TestDir::new();
    for (name, content) in [("secret", "hunter2"), ("empty", "\n")] {
        dir.write(name, content);
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let all = "--oauth-introspection https://a/i --oauth-client-id c --oauth-client-secret file:secret";
    let names = "--oauth-introspection URL, --oauth-client-id ID and --oauth-client-secret file:PATH";
    for (options, pieces) in [
        (all.to_owned(), ["--oauth-client-secret", "--oauth-issuer https://"]),
        ("--oauth-introspection-cache 10s".to_owned(), ["--oauth-introspection-cache: ", "--oauth-issuer https://"]),
        (format!("{ISSUER} --oauth-introspection https://a/i"), ["--oauth-introspection: ", names]),
        (format!("{ISSUER} --oauth-client-id c --oauth-client-secret file:secret"), ["--oauth-client-id and ", names]),
        (format!("{ISSUER} --oauth-introspection-cache 10s"), ["--oauth-introspection-cache: ", names]),
        (
            format!("{ISSUER} {all} --oauth-introspection-cache 61s"),
            ["--oauth-introspection-cache: ", "from 0s to 60s"],
        ),
        (
            format!("{ISSUER} {}", all.replace("https:", "http:")),
            ["--oauth-introspection: ", "use https://HOST/PATH, or http on this machine"],
        ),
        (
            format!("{ISSUER} {}", all.replace("//a", "//u:hunter2@a")),
            ["--oauth-introspection: ", "it contains a user name"],
        ),
        (format!("{ISSUER} {}", all.replace("file:secret", "hunter2")), ["--oauth-client-secret: ", "use file:PATH"]),
        (format!("{ISSUER} {}", all.replace("file:secret", "file:empty")), ["--oauth-client-secret: ", "is empty"]),
        (
            format!("{ISSUER} {} --oauth-client-id=", all.replace("--oauth-client-id c", "")),
            ["--oauth-client-id: ", "empty"],
        ),
    ] {
        for command in ["serve", "config check"] {
            let outcome = dir.run(&format!("{command} {options}"));
            assert!(!outcome.err.contains("hunter2"), "{outcome:?}");
            outcome.fails(2, &pieces);
        }
    }
    let displayed = dir.run(&format!("config check {ISSUER} {all}")).succeeds();
    assert!(displayed.contains("https://a/i") && !displayed.contains("hunter2"), "{displayed}");
    let line = displayed.lines().find(|line| line.starts_with("oauth-client-secret")).unwrap();
    assert!(line.contains('…'), "{line}");
}
