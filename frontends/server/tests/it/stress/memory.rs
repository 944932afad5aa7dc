//! Memory of a server over a million requests.

use std::io::{BufReader, Write as _};
use std::net::TcpStream;
use std::thread;

use crate::idle_memory::resident_kib;
use crate::program::{Server, TestDir, read_response};

const REQUESTS: usize = 1_000_000;
/// Maximum growth in KiB.
const MAX_GROWTH: u64 = 8 * 1024;
const CONNECTIONS: usize = 4;
/// Requests per batch.
const PIPELINED: usize = 50;
const PATHS: [&str; 5] = ["courses", "courses?limit=1", "courses/one", "courses/none", "me"];

/// Sends `requests` requests over persistent connections and reads all responses.
fn send(server: &Server, token: &str, requests: usize) {
    let one = |path: &str| format!("GET /api/v1/{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n");
    let batch: String = (0..PIPELINED).map(|number| one(PATHS[number % PATHS.len()])).collect();
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut stream = BufReader::new(TcpStream::connect(&server.address).unwrap());
                for _ in 0..requests / CONNECTIONS / PIPELINED {
                    stream.get_mut().write_all(batch.as_bytes()).unwrap();
                    (0..PIPELINED).for_each(|_| drop(read_response(&mut stream).expect("the connection was closed")));
                }
            });
        }
    });
}

#[test]
#[ignore = "a stress test"]
fn memory_does_not_grow_over_a_million_requests() {
    let dir = TestDir::with_courses();
    let (_, token) = dir.key("a");
    let server = dir.serve("--log off");
    send(&server, &token, REQUESTS / 50);
    let before = resident_kib(&server);
    send(&server, &token, REQUESTS);
    let after = resident_kib(&server);
    println!("{REQUESTS} requests: {before} KiB before, {after} KiB after");
    assert!(after <= before + MAX_GROWTH, "{before} KiB grew to {after}");
}
