//! Processor work per request field and per target, in instructions: with HTTP/2, a byte is enough to repeat a long field.
//!
//! Without valgrind the test prints that it is skipped and passes, unless `CATALOGUE_TEST_REQUIRE` names `valgrind`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write, stderr};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::program::{Server, TestDir};
use crate::rate_limit::{COURSES, key};

/// Size of the long field or target, a little below the limit of a request head.
const MAX_HEAD_BYTES: usize = 15_000;
/// Maximum cost of a field that the server reads, as a multiple of one that it ignores, in an unoptimized build.
const MAX_RATIO: u64 = 4;
/// Maximum cost of a target, as a multiple of a field that the server ignores. After the rate limit, `form_urlencoded` decodes
/// the query: 15,000 bytes of `a&` take 0.16 ms in an optimized build. A filter before the decoder made ordinary queries slower.
const MAX_TARGET_RATIO: u64 = 8;

const SETTINGS: &str = "--settings-url https://a.example/settings";

/// A server under callgrind.
struct Counted {
    dir: TestDir,
    server: Server,
    token: String,
}

impl Counted {
    fn start() -> Self {
        let dir = TestDir::with_courses();
        let token = key(&dir);
        let program = dir.command(&format!(
            "serve --listen 127.0.0.1:0 --log warn --trusted-proxies 127.0.0.1 --rate-limit 1000/1m {SETTINGS}"
        ));
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=counts", "--quiet"]).arg(program.get_program());
        valgrind.args(program.get_args()).current_dir(dir.path("")).stderr(Stdio::null());
        let server = Server::start(&mut valgrind);
        Self { dir, server, token }
    }

    /// Sends a GET over a new connection and reads the response.
    fn exchange(&self, target: &str, fields: &str) {
        let token = if fields.starts_with("Authorization") {
            String::new()
        } else {
            format!("Authorization: Bearer {}\r\n", self.token)
        };
        let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n{token}{fields}\r\n");
        let mut connection = BufReader::new(TcpStream::connect(&self.server.address).unwrap());
        connection.get_mut().write_all(request.as_bytes()).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some(("content-length", number)) => length = number.parse().unwrap(),
                None if line == "\r\n" => break,
                _ => assert!(!line.is_empty(), "no response to {}", &request[..100]),
            }
        }
        connection.read_exact(&mut vec![0; length]).unwrap();
    }

    /// Returns the instructions since the last call.
    fn instructions(&self) -> u64 {
        let dump = Command::new("callgrind_control").args(["-d", &self.server.id().to_string()]).output().unwrap();
        assert!(dump.status.success(), "{dump:?}");
        let name = self.dir.files().into_iter().find(|name| name.starts_with("counts.")).unwrap();
        let path = self.dir.path(&name);
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap().parse().unwrap()
    }

    /// Returns the instructions of one request.
    fn cost(&self, target: &str, fields: &str) -> u64 {
        self.exchange(target, fields);
        self.instructions()
    }
}

fn is_installed() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return true;
    }
    let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == "valgrind"), "valgrind is required and not installed");
    // Bypasses the capture of test output, so that the message is visible.
    stderr().write_all(b"skipped: work per request field: valgrind is not installed\n").unwrap();
    false
}

/// Repeats `member` up to [`MAX_HEAD_BYTES`].
fn many(member: &str) -> String {
    member.repeat(MAX_HEAD_BYTES / member.len())
}

#[test]
fn parsed_fields_cost_at_most_a_few_times_unparsed_ones() {
    if !is_installed() {
        return;
    }
    let counted = Counted::start();
    counted.cost(COURSES, "");
    let unread = counted.cost(COURSES, &format!("X-Unknown: {}\r\n", many("a")));
    let max = MAX_RATIO * unread;
    for (name, member) in [
        ("Accept-Encoding", "a,"),
        ("Accept-Encoding", "gzip;q=0.5,"),
        ("If-None-Match", "\"\","),
        ("If-None-Match", "\"aaaaaaaaaaaaaaaaaaaaaaaaa\","),
        ("X-Forwarded-For", "127.0.0.1,"),
        ("X-Forwarded-Proto", "https,"),
        ("Origin", "a"),
        ("X-Request-Id", "a"),
        ("Traceparent", "a"),
        ("Cookie", "a=b;"),
        ("Authorization: Bearer", "-"),
        ("Authorization: Bearer", "="),
    ] {
        let separator = if name.contains(':') { " " } else { ": " };
        let cost = counted.cost(COURSES, &format!("{name}{separator}{}\r\n", many(member)));
        assert!(cost <= max, "{name} of {member}: {cost} instructions, more than {max}");
    }
    // Only the developer settings read cookies.
    for member in [";", "a=b;", "catalogue-settings;"] {
        let cost = counted.cost("/settings", &format!("Cookie: {}\r\n", many(member)));
        assert!(cost <= max, "Cookie of {member} at the settings: {cost} instructions, more than {max}");
    }
    for target in [
        "?x",
        "?a&",
        "?&",
        "?%&",
        "?%63&",
        "?c&",
        "?curso&",
        "?%6cimi&",
        "?limit&",
        "?limit=0",
        "?cursor=a",
        "/a",
        "/%41",
    ] {
        let (fixed, member) = target.split_at(target.find('=').unwrap_or(0) + 1);
        let cost = counted.cost(&format!("{COURSES}{fixed}{}", many(member)), "");
        let max = MAX_TARGET_RATIO * unread;
        assert!(cost <= max, "{target}: {cost} instructions, more than {max}");
    }
}
