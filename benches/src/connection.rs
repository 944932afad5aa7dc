//! [`Connection`]: a keep-alive connection to a server, with at most one request in flight.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout for a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// A keep-alive connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    /// Head and body of the last response, so that their memory is used again.
    head: String,
    body: Vec<u8>,
    /// Whether a request is in flight.
    waiting: bool,
}

/// A response, borrowed from the connection.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// Status line, header fields and the empty line.
    pub head: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl Connection {
    /// Connects to `address`.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
        let stream = BufReader::with_capacity(1 << 16, stream);
        Ok(Self { stream, head: String::new(), body: Vec::new(), waiting: false })
    }

    /// Returns whether a request is in flight.
    pub const fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Sends a request.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.waiting = true;
        self.stream.get_mut().write_all(request)
    }

    /// Sends a request and reads the response.
    pub fn round_trip(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        self.send(request)?;
        self.receive()
    }

    /// Reads a response.
    pub fn receive(&mut self) -> io::Result<Response<'_>> {
        self.waiting = false;
        self.head.clear();
        while !self.head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut self.head)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let status = self.head.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(malformed)?;
        let length = match status {
            204 | 304 => 0,
            _ => field(&self.head, "content-length").and_then(|length| length.parse().ok()).ok_or_else(malformed)?,
        };
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        match self.stream.buffer() {
            [] => Ok(Response { status, head: &self.head, body: &self.body }),
            _ => Err(malformed()),
        }
    }
}

impl Response<'_> {
    /// Returns the value of the header field `name`.
    pub fn field(&self, name: &str) -> Result<&str, String> {
        field(self.head, name).ok_or_else(|| format!("the response has no {name}"))
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|field| field.0.eq_ignore_ascii_case(name)).map(|field| field.1)
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "malformed response")
}
