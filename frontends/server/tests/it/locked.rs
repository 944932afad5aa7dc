//! A server whose database another program has locked.

use std::io::{BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::databases::Host;
use crate::observed::Observed;
use crate::program::{TestDir, get, read_response};

/// Maximum time for a response on a busy machine; requests wait at most a second for a lock.
const DEADLINE: Duration = Duration::from_secs(3);

/// Starts a server with one worker thread on a database without a WAL.
/// Returns the directory, the server, a token, and another program's connection.
fn fixture() -> (TestDir, Observed, String, Host) {
    let dir = TestDir::with_courses();
    let (_, token) = dir.key("a");
    let other = dir.host();
    assert_eq!(other.texts("PRAGMA journal_mode = delete"), ["delete"]);
    let arguments = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0";
    let observed = Observed::start_with(&dir, dir.command(arguments).env("TOKIO_WORKER_THREADS", "1"));
    (dir, observed, token, other)
}

/// Requests the courses without waiting for the response.
fn send_request(address: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close");
    write!(stream, "GET /api/v1/courses HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    stream
}

fn status(stream: TcpStream) -> u16 {
    read_response(&mut BufReader::new(stream)).unwrap().status
}

#[test]
fn requests_fail_without_blocking_others_while_database_is_locked() {
    let (_guard, observed, token, other) = fixture();
    let address = &observed.server.address;
    other.run("BEGIN EXCLUSIVE");
    let began = Instant::now();
    let many: Vec<_> = (0..20).map(|_| send_request(address, &token)).collect();
    assert_eq!(get(address, "/docs/openapi.json", "").0, 200);
    // The request for the document did not wait: none of the other requests has a response yet.
    let last = many.last().unwrap();
    last.set_nonblocking(true).unwrap();
    assert_eq!(last.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    last.set_nonblocking(false).unwrap();
    for stream in many {
        assert_eq!(status(stream), 500);
    }
    assert!(began.elapsed() < DEADLINE, "{:?}", began.elapsed());
    observed.wait_for_log("another program");
    other.run("COMMIT");
    assert_eq!(status(send_request(address, &token)), 200);
}

#[test]
fn readiness_reports_locked_database() {
    let (_guard, observed, _, other) = fixture();
    other.run("BEGIN EXCLUSIVE");
    let (status, found) = observed.ready();
    assert_eq!(status, 503, "{found}");
    for check in ["credentials", "courses"] {
        assert!(found["checks"][check].as_str().unwrap().contains("another program"), "{found}");
    }
    other.run("COMMIT");
    assert_eq!(observed.ready().0, 200);
}
