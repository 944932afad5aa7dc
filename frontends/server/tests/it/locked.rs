//! Another program locks the database of a server.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::observed::Observed;
use crate::program::{TestDir, get};

/// How long an answer may take on a busy machine; a lock is waited for a second at most.
const DEADLINE: Duration = Duration::from_secs(3);

/// A server of one thread over a database without a WAL, a key, and another program's connection.
fn fixture() -> (TestDir, Observed, String, Connection) {
    let dir = TestDir::with_courses();
    let token = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let other = Connection::open(dir.path("catalogue.db")).unwrap();
    other.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    let arguments = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0";
    let observed = Observed::by(&dir, dir.command(arguments).env("TOKIO_WORKER_THREADS", "1"));
    (dir, observed, token.trim_end().to_owned(), other)
}

/// Asks for the courses without waiting for the answer.
fn ask(address: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close");
    write!(stream, "GET /api/v1/courses HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    stream
}

fn status(mut stream: TcpStream) -> String {
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn requests_fail_soon_and_others_are_answered_meanwhile() {
    let (_guard, observed, token, other) = fixture();
    let address = &observed.server.address;
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let many: Vec<_> = (0..20).map(|_| ask(address, &token)).collect();
    assert_eq!(get(address, "/docs/openapi.json", "").0, 200);
    // The document did not wait for the others: none of them is answered yet.
    let last = many.last().unwrap();
    last.set_nonblocking(true).unwrap();
    assert_eq!(last.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    last.set_nonblocking(false).unwrap();
    for stream in many {
        assert_eq!(status(stream), "500");
    }
    assert!(began.elapsed() < DEADLINE, "{:?}", began.elapsed());
    observed.logs("another program");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(status(ask(address, &token)), "200");
}

#[test]
fn readiness_says_what_is_wrong() {
    let (_guard, observed, _, other) = fixture();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (status, found) = observed.ready();
    assert_eq!(status, 503, "{found}");
    for check in ["credentials", "courses"] {
        assert!(found["checks"][check].as_str().unwrap().contains("another program"), "{found}");
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(observed.ready().0, 200);
}
