//! What an idle connection takes, whatever came over it before.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::https;
use crate::program::{Server, TestDir};

/// Connections at the same time.
const CONNECTIONS: u64 = 60;
/// How many KiB a connection may take beyond what it takes after a small request: a head of 16 KiB, and some.
const MAX_GROWTH_KIB: u64 = 24;

/// The process's memory in KiB.
pub(crate) fn resident(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Sends a request for what is not there, and reads the answer.
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

/// How many KiB many idle connections take that have sent such a request, and are done with it.
fn used<S: Read + Write>(server: &Server, connect: &dyn Fn(&Server) -> S, more: &str) -> u64 {
    let idle = || {
        let mut stream = connect(server);
        exchange(&mut stream, more);
        stream
    };
    drop(idle());
    let before = resident(server);
    let connections: Vec<_> = (0..CONNECTIONS).map(|_| idle()).collect();
    let used = resident(server).saturating_sub(before);
    drop(connections);
    used
}

/// The largest head that may be sent leaves behind little more than a small one does.
fn assert_little_is_kept<S: Read + Write>(start: &dyn Fn() -> Server, connect: &dyn Fn(&Server) -> S) {
    let small = used(&start(), connect, "\r\n");
    let large = used(&start(), connect, &format!("X: {}\r\n\r\n", "x".repeat(16_000)));
    assert!(large < small + CONNECTIONS * MAX_GROWTH_KIB, "{large} KiB and not {small}");
}

#[test]
fn large_head_takes_little_memory_later() {
    let dir = TestDir::with_courses();
    let start = || Server::start(&mut dir.command("serve --listen 127.0.0.1:0"));
    assert_little_is_kept(&start, &|server| TcpStream::connect(&server.address).unwrap());
}

#[test]
fn large_head_takes_little_memory_later_over_tls() {
    let dir = https::dir_with_certificate();
    let start = || Server::start(&mut dir.command(https::SERVE));
    assert_little_is_kept(&start, &|server| https::connect(&dir, server, &[b"http/1.1"]).unwrap());
}
