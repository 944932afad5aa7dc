//! Memory of idle connections, after requests of any size.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::https;
use crate::program::{Server, TestDir};

/// Number of concurrent connections. Many, because on a loaded machine the server releases some heads only after the measurement.
const CONNECTIONS: u64 = 200;
/// Maximum additional memory of a connection after a large head, in KiB: a head of 16 KiB and a margin.
const MAX_GROWTH_KIB: u64 = 24;

/// Returns the resident memory of the process in KiB.
pub(crate) fn resident_kib(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Sends a request that gets a 404, and reads the response.
fn exchange<S: Read + Write>(stream: &mut S, more: &str) {
    stream.write_all(format!("GET /none HTTP/1.1\r\nHost: localhost\r\n{more}").as_bytes()).unwrap();
    let mut response = Vec::new();
    while !response.ends_with(b"}}") {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).unwrap();
        assert!(length > 0, "{}", String::from_utf8_lossy(&response));
        response.extend_from_slice(&part[..length]);
    }
}

/// Returns the KiB that [`CONNECTIONS`] idle connections use after a request with `more` in its head.
fn memory_of_idle_connections<S: Read + Write>(server: &Server, connect: &dyn Fn(&Server) -> S, more: &str) -> u64 {
    let idle = || {
        let mut stream = connect(server);
        exchange(&mut stream, more);
        stream
    };
    drop(idle());
    let before = resident_kib(server);
    let connections: Vec<_> = (0..CONNECTIONS).map(|_| idle()).collect();
    let used = resident_kib(server).saturating_sub(before);
    drop(connections);
    used
}

/// Asserts that connections use little more memory after the largest allowed head than after a small one.
fn assert_memory_is_released<S: Read + Write>(start: &dyn Fn() -> Server, connect: &dyn Fn(&Server) -> S) {
    let small = memory_of_idle_connections(&start(), connect, "\r\n");
    let large = memory_of_idle_connections(&start(), connect, &format!("X: {}\r\n\r\n", "x".repeat(16_000)));
    assert!(large < small + CONNECTIONS * MAX_GROWTH_KIB, "{large} KiB, after small heads {small} KiB");
}

#[test]
fn idle_connection_releases_memory_of_large_head() {
    let dir = TestDir::with_courses();
    assert_memory_is_released(&|| dir.serve(""), &|server| TcpStream::connect(&server.address).unwrap());
}

#[test]
fn idle_tls_connection_releases_memory_of_large_head() {
    let dir = https::dir_with_certificate();
    let start = || Server::start(&mut dir.command(https::SERVE));
    assert_memory_is_released(&start, &|server| https::connect(&dir, server, &[b"http/1.1"]));
}
