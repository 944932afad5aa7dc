//! Requests as text over a socket, so that no client library changes them.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A response of a host application.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl TestResponse {
    /// Sends `request` and reads to the end of the connection.
    pub(crate) fn to(address: &str, request: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        Self::read(&mut stream)
    }

    /// Reads to the end of the connection.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{response:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Returns the first value of the header `name`.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let mut values = headers.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the status and the error code of a failure.
    pub(crate) fn failure(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap().to_owned())
    }
}

/// Returns a request with `headers`, each of which ends with a line feed. The connection closes after the response.
pub(crate) fn request(method: &str, target: &str, headers: &str, body: &str) -> String {
    let headers = headers.replace('\n', "\r\n");
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}{headers}\r\n{body}")
}
