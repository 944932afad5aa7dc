//! [`Reader`]: a client on one persistent connection.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A client on one connection, which remembers the last ETag of each path.
pub(crate) struct Reader {
    stream: BufReader<TcpStream>,
    token: String,
    /// Name of the server, for messages.
    server: &'static str,
    /// Last ETag by path.
    tags: HashMap<String, String>,
}

#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    /// Empty if the response has none.
    pub(crate) tag: String,
    pub(crate) body: String,
}

impl Reader {
    pub(crate) fn connect(address: &str, token: &str, server: &'static str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), token: token.to_owned(), server, tags: HashMap::new() }
    }

    pub(crate) fn get(&mut self, path: &str, tag: &str) -> TestResponse {
        self.send(path, tag);
        self.receive()
    }

    /// Like [`Self::get`], but with the last ETag of `path`.
    pub(crate) fn get_again(&mut self, path: &str) -> TestResponse {
        let tag = self.tag(path);
        self.get(path, &tag)
    }

    /// Returns the last ETag of `path`, or an empty text.
    pub(crate) fn tag(&self, path: &str) -> String {
        self.tags.get(path).cloned().unwrap_or_default()
    }

    /// Sends a request with the last ETag of `path`.
    pub(crate) fn send_again(&mut self, path: &str) {
        let tag = self.tag(path);
        self.send(path, &tag);
    }

    /// Asserts that the next response has a new ETag and contains `text`, and that a request with this ETag gets a 304.
    #[track_caller]
    pub(crate) fn receive_new(&mut self, path: &str, text: &str) {
        let response = self.receive();
        let before = self.tag(path);
        let server = self.server;
        assert_eq!(response.status, 200, "{server}: {path} with {before:?} should show {text:?}: {response:?}");
        assert!(response.body.contains(text), "{server}: {path} should show {text:?}: {response:?}");
        assert_ne!(response.tag, before, "{server}: {path}");
        let again = self.get(path, &response.tag);
        assert_eq!(again.status, 304, "{server}: {path}: {again:?} after {response:?}");
        self.tags.insert(path.to_owned(), response.tag);
    }

    fn send(&mut self, path: &str, tag: &str) {
        let token = &self.token;
        let stream = self.stream.get_mut();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nIf-None-Match: {tag}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
    }

    fn receive(&mut self) -> TestResponse {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut head).unwrap();
            assert_ne!(read, 0, "{}: the connection ended after {head:?}", self.server);
        }
        let field = |name: &str| {
            let mut fields = head.lines().filter_map(|line| line.split_once(": "));
            fields.find(|field| field.0 == name).map(|field| field.1.to_owned())
        };
        let status = head[9..12].parse().unwrap();
        let length = if status == 304 { 0 } else { field("content-length").unwrap().parse().unwrap() };
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        TestResponse { status, tag: field("etag").unwrap_or_default(), body: String::from_utf8(body).unwrap() }
    }
}
