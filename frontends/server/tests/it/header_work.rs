//! Processor work per request field and per target, in instructions: with HTTP/2, a byte is enough to repeat a long field.
//!
//! Without valgrind the test prints that it is skipped and passes, unless `CATALOGUE_TEST_REQUIRE` names `valgrind`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::program::{Server, TestDir, is_installed};
use crate::skip::or_skip_unless;

/// Size of the long field or target, a little below the limit of a request head.
const MAX_HEAD_BYTES: usize = 15_000;
/// Maximum cost of a field that the server reads, as a multiple of one that it ignores, in an unoptimized build.
const MAX_RATIO: u64 = 4;
/// Maximum cost of a target, as a multiple of a field that the server ignores. After the rate limit, `form_urlencoded` decodes
/// the query: 15,000 bytes of `a&` take 0.16 ms in an optimized build. A filter before the decoder made ordinary queries slower.
const MAX_TARGET_RATIO: u64 = 8;

const COURSES: &str = "/api/v1/courses";
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
        let token = dir.key("a").1;
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
        let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{token}{fields}\r\n");
        let mut connection = TcpStream::connect(&self.server.address).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut response = Vec::new();
        connection.read_to_end(&mut response).unwrap();
        assert!(response.starts_with(b"HTTP/1.1 "), "no response to {}", &request[..100]);
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

/// Repeats `member` up to [`MAX_HEAD_BYTES`].
fn many(member: &str) -> String {
    member.repeat(MAX_HEAD_BYTES / member.len())
}

#[test]
fn parsed_fields_cost_at_most_a_few_times_unparsed_ones() {
    let Some(()) = or_skip_unless("valgrind", is_installed("valgrind")) else { return };
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
