//! `catalogue serve --rate-limit`

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::program::{Server, TestDir};

pub(crate) const COURSES: &str = "/api/v1/courses";

/// The parsed head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    lines: Vec<String>,
}

impl Head {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let has_name = |line: &&String| line.split(':').next().is_some_and(|known| known.eq_ignore_ascii_case(name));
        self.lines.iter().find(has_name).map(|line| line[name.len() + 1..].trim())
    }

    /// Returns the number of remaining requests that the response reports.
    pub(crate) fn remaining(&self) -> Option<u32> {
        let state = self.field("ratelimit")?.strip_prefix(r#""default";r="#).unwrap();
        state.split(';').next().unwrap().parse().ok()
    }
}

pub(crate) fn get_head(server: &Server, path: &str, token: &str, further: &str) -> Head {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{further}\r\n"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let mut lines = response.split("\r\n\r\n").next().unwrap().split("\r\n").map(str::to_owned);
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    Head { status, lines: lines.collect() }
}

pub(crate) fn key(dir: &TestDir) -> String {
    dir.run("keys create --account a --name n --scope read:courses").succeeds().trim_end().to_owned()
}

pub(crate) fn serve(dir: &TestDir, options: &str) -> Server {
    Server::start(&mut dir.command(&format!("serve --listen 127.0.0.1:0 --log warn {options}")))
}

#[test]
fn requests_of_a_key_are_limited() {
    let dir = TestDir::with_courses();
    let (token, other) = (key(&dir), key(&dir));
    let server = serve(&dir, "--rate-limit 2/1h");
    let first = get_head(&server, COURSES, &token, "");
    assert_eq!((first.status, first.field("ratelimit-policy")), (200, Some(r#""default";q=2;w=3600"#)));
    assert_eq!(first.remaining(), Some(1));
    let named = format!("If-None-Match: {}\r\n", first.field("etag").unwrap());
    for _ in 0..10 {
        let unchanged = get_head(&server, COURSES, &token, &named);
        assert_eq!((unchanged.status, unchanged.field("ratelimit")), (304, None));
    }
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(0));
    let refused = get_head(&server, COURSES, &token, "");
    let after: u32 = refused.field("retry-after").unwrap().parse().unwrap();
    assert_eq!((refused.status, refused.remaining()), (429, Some(0)));
    assert!((1..=3_600).contains(&after), "{after}");
    assert_eq!(get_head(&server, COURSES, &other, "").remaining(), Some(1));
    assert_eq!(get_head(&server, "/docs/openapi.json", &token, "").status, 200);
}

#[test]
fn attempts_with_unknown_tokens_are_limited() {
    let dir = TestDir::with_courses();
    let token = key(&dir);
    let server = serve(&dir, "--rate-limit 2/1h");
    assert_eq!(get_head(&server, COURSES, &token, "").status, 200);
    for status in [401, 401, 429, 429] {
        assert_eq!(get_head(&server, COURSES, "guess", "").status, status);
    }
    assert_eq!(get_head(&server, COURSES, &token, "").status, 200);
}

#[test]
fn malformed_tokens_count_as_unknown() {
    let dir = TestDir::with_courses();
    let server = serve(&dir, "--rate-limit 3/1h");
    for (token, status) in [("a b", 401), ("====", 401), ("\u{e9}", 401), ("a b", 429), ("guess", 429)] {
        assert_eq!(get_head(&server, COURSES, token, "").status, status, "{token}");
    }
}

#[test]
fn client_address_is_taken_from_trusted_proxy() {
    let dir = TestDir::with_courses();
    let server = serve(&dir, "--rate-limit 2/1h --trusted-proxies 127.0.0.1");
    // Only the last address, which the proxy appends, counts. `Forwarded` is not read, so the proxy's own address counts.
    for (before, own) in
        [("X-Forwarded-For", "\r\nX-Forwarded-For: 192.0.2.66"), ("X-Forwarded-For", ", 192.0.2.67"), ("Forwarded", "")]
    {
        for (host, status) in [(1, 401), (2, 401), (3, 429)] {
            let claim = format!("{before}: 203.0.113.{host}{own}\r\n");
            assert_eq!(get_head(&server, COURSES, "guess", &claim).status, status, "{claim}");
        }
    }
    assert_eq!(get_head(&server, COURSES, "guess", "X-Forwarded-For: 203.0.113.1\r\n").status, 401);
}

#[cfg(feature = "redis")]
#[test]
fn rate_limit_is_read_from_all_layers() {
    let dir = TestDir::with_courses();
    let token = key(&dir);
    dir.write("c.toml", "rate-limit = \"3/1m\"\n");
    let mut command = dir.command("serve --listen 127.0.0.1:0 --config c.toml");
    assert_eq!(get_head(&Server::start(&mut command), COURSES, &token, "").remaining(), Some(2));
    let server = Server::start(command.env("CATALOGUE_RATE_LIMIT", "5/1m"));
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(4));
    let server = Server::start(command.args(["--rate-limit", "7/1m"]));
    assert_eq!(get_head(&server, COURSES, &token, "").remaining(), Some(6));

    dir.run("serve --rate-limit 600").fails(2, &["--rate-limit: ", "like 600/1m"]);
    dir.run("serve --rate-limit 0/1m").fails(2, &["--rate-limit: ", "use at least 1"]);
    dir.run_in(&[("CATALOGUE_RATE_LIMIT", "x/1m")], "serve").fails(2, &["CATALOGUE_RATE_LIMIT: ", "like 600/1m"]);
    let arguments = "serve --rate-limit-store redis://127.0.0.1";
    dir.run(arguments).fails(2, &["--rate-limit-store: ", "no effect without --rate-limit"]);
}
