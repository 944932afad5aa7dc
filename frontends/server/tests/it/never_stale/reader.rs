//! [`Reader`]: a client on one persistent connection.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::TcpStream;

use crate::program::{TestResponse, read_response};

/// A client on one connection, which remembers the last ETag of each path.
pub(crate) struct Reader {
    stream: BufReader<TcpStream>,
    token: String,
    /// Name of the server, for messages.
    server: &'static str,
    /// Last ETag by path.
    tags: HashMap<String, String>,
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
        let tag = response.field("etag").unwrap_or_default().to_owned();
        assert_ne!(tag, before, "{server}: {path}");
        let again = self.get(path, &tag);
        assert_eq!(again.status, 304, "{server}: {path}: {again:?} after {response:?}");
        self.tags.insert(path.to_owned(), tag);
    }

    fn send(&mut self, path: &str, tag: &str) {
        let token = &self.token;
        let stream = self.stream.get_mut();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nIf-None-Match: {tag}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
    }

    fn receive(&mut self) -> TestResponse {
        read_response(&mut self.stream).unwrap_or_else(|| panic!("{}: the connection ended", self.server))
    }
}
