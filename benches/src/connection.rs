//! [`Connection`]: a keep-alive connection to a server, with at most one request in flight.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout for a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// A keep-alive connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// Whether a request is in flight.
    waiting: bool,
}

/// A response, borrowed from the connection's buffer.
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
        Ok(Self { stream, buffer: vec![0; 1 << 16], filled: 0, waiting: false })
    }

    /// Returns whether a request is in flight.
    pub const fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Sends a request.
    pub fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.waiting = true;
        self.stream.write_all(request)
    }

    /// Sends a request and reads the response.
    pub fn round_trip(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        self.send(request)?;
        self.receive()
    }

    /// Reads a response.
    pub fn receive(&mut self) -> io::Result<Response<'_>> {
        self.waiting = false;
        self.filled = 0;
        let head = loop {
            let scanned = self.filled.saturating_sub(3);
            self.read()?;
            if let Some(at) = self.buffer[scanned..self.filled].windows(4).position(|end| end == b"\r\n\r\n") {
                break scanned + at + 4;
            }
        };
        let text = str::from_utf8(&self.buffer[..head]).map_err(|_| malformed())?;
        let status = text.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(malformed)?;
        let length = match status {
            204 | 304 => 0,
            _ => field(text, "content-length").and_then(|length| length.parse().ok()).ok_or_else(malformed)?,
        };
        while self.filled < head + length {
            self.read()?;
        }
        let (head, body) = self.buffer[..self.filled].split_at(head);
        match str::from_utf8(head) {
            Ok(head) if body.len() == length => Ok(Response { status, head, body }),
            _ => Err(malformed()),
        }
    }

    fn read(&mut self) -> io::Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..])? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            read => {
                self.filled += read;
                Ok(())
            }
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
