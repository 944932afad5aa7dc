//! Form bodies that are too long, slow or incomplete; the client's address behind a proxy.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use super::visitor::Visitor;
use crate::program::TestDir;

const HEAD: &str = "POST /settings/sign-in HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
    Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn form_body_over_16_kib_returns_413() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--settings-url /settings");
    let visitor = Visitor::of(&server.address);
    let post = |length: usize| visitor.post("/settings/sign-in", &format!("code={}", "x".repeat(length - 5)));
    assert_eq!(post(16 << 10).status, 401);
    let refused = post((16 << 10) + 1);
    assert_eq!((refused.status, &*refused.body), (413, ""));
    let chunks = format!("{:x}\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", 16 << 10, "x".repeat(16 << 10));
    assert_eq!(visitor.exchange(&format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}")).status, 413);
    // The API itself ignores the body of a GET.
    assert_eq!(visitor.send("GET", "/api/v1/me", &[], &"x".repeat(1 << 10)).status, 401);
    assert_eq!(visitor.get("/settingsx").status, 404);
}

#[test]
fn incomplete_form_body_leaves_link_unused() {
    let dir = TestDir::with_courses();
    let link = dir.run("settings link --account a --settings-url /settings").succeeds();
    let (_, code) = link.trim_end().split_once('#').unwrap();
    let server = dir.serve("--settings-url /settings --request-timeout 2s");
    let begin = || {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "{HEAD}Content-Length: 100\r\n\r\ncode={code}").unwrap();
        stream
    };
    let end = |mut stream: TcpStream| {
        let mut response = String::new();
        let _ = stream.read_to_string(&mut response);
        assert!(!response.contains("303"), "{response}");
    };
    let (slow, broken) = (begin(), begin());
    broken.shutdown(Shutdown::Write).unwrap();
    end(broken);
    assert_eq!(Visitor::of(&server.address).get("/settings/sign-in").status, 200);
    end(slow);
    assert_eq!(Visitor::of(&server.address).sign_in(&link).status, 303, "the code is still valid");
}

#[test]
fn pending_body_does_not_lock_out_clients_at_max_connections() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--settings-url /settings --max-connections 1");
    for path in ["/settings/sign-in", "/settings/unknown", "/api/v1/me"] {
        let mut slow = TcpStream::connect(&server.address).unwrap();
        write!(slow, "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n").unwrap();
        assert_eq!(Visitor::of(&server.address).get("/api/v1/me").status, 401, "{path}");
    }
}

#[test]
fn page_responds_before_request_body_arrives() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--settings-url /settings");
    let fields = "Host: a\r\nContent-Length: 5";
    for (method, status) in [("GET", 200), ("HEAD", 200), ("DELETE", 405)] {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "{method} /settings/sign-in HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("HTTP/1.1 {status} ")), "{method}: {line}");
    }
}

#[test]
fn sign_in_limit_counts_by_forwarded_client_address() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--settings-url https://a.example/settings --trusted-proxies 127.0.0.1");
    let visitor = Visitor::of(&server.address);
    let attempt = |client: &str| {
        let fields = ["Origin: https://a.example", "Content-Type: application/x-www-form-urlencoded", client];
        visitor.send("POST", "/settings/sign-in", &fields, "code=csin_wrong").status
    };
    for _ in 0..20 {
        assert_eq!(attempt("X-Forwarded-For: 192.0.2.1"), 401);
    }
    assert_eq!(attempt("X-Forwarded-For: 192.0.2.1"), 429);
    assert_eq!(attempt("X-Forwarded-For: 192.0.2.2"), 401);
}
