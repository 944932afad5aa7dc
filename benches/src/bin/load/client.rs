//! [`Client`]: a few connections that are kept alive, with one request on the way on each.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many connections a client has. The server always finds a request waiting, and no more than these.
const CONNECTIONS: usize = 16;
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Set when the user wants the program to end.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// When a run of requests ends: at whichever comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
}

/// Connections to one server.
#[derive(Debug)]
pub(crate) struct Client(Vec<Connection>);

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// Whether a request is on its way.
    waiting: bool,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        (0..CONNECTIONS).map(|_| Connection::open(address)).collect::<io::Result<_>>().map(Self)
    }

    /// The answer to one request.
    pub(crate) fn ask(address: SocketAddr, request: &[u8]) -> io::Result<Answer> {
        let mut connection = Connection::open(address)?;
        connection.send(request)?;
        let (status, head, length) = connection.receive()?;
        let bytes = &connection.buffer[..head + length];
        let (head, body) = bytes.split_at(head);
        Ok(Answer { status, head: String::from_utf8_lossy(head).into_owned(), body: body.to_vec() })
    }

    /// Sends the requests in turn, over and over, until a bound is met, and gives how many were answered. Each answer
    /// must have that status.
    pub(crate) fn drive(&mut self, requests: &[Vec<u8>], status: u16, bounds: Bounds) -> io::Result<u64> {
        let end = Instant::now() + bounds.time;
        let mut next = requests.iter().cycle();
        let (mut sent, mut answered) = (0, 0);
        let mut over = false;
        while !over || answered < sent {
            for connection in &mut self.0 {
                if connection.waiting {
                    let (found, _, _) = connection.receive()?;
                    if found != status {
                        return Err(io::Error::other(format!("an answer of status {found} instead of {status}")));
                    }
                    answered += 1;
                }
                over = over || sent >= bounds.requests;
                if !over && let Some(request) = next.next() {
                    connection.send(request)?;
                    sent += 1;
                }
            }
            if INTERRUPTED.load(Ordering::Relaxed) {
                return Err(ErrorKind::Interrupted.into());
            }
            over = over || Instant::now() >= end;
        }
        Ok(answered)
    }
}

impl Connection {
    fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, buffer: vec![0; 1 << 16], filled: 0, waiting: false })
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.waiting = true;
        self.stream.write_all(request)
    }

    /// Reads one answer and gives its status, the length of its head and that of its body.
    fn receive(&mut self) -> io::Result<(u16, usize, usize)> {
        self.waiting = false;
        self.filled = 0;
        let head = loop {
            let seen = self.filled.saturating_sub(3);
            self.read()?;
            if let Some(at) = self.buffer[seen..self.filled].windows(4).position(|end| end == b"\r\n\r\n") {
                break seen + at + 4;
            }
        };
        let text = str::from_utf8(&self.buffer[..head]).map_err(|_| malformed())?;
        let status = text.get(9..12).and_then(|status| status.parse().ok()).ok_or_else(malformed)?;
        let length = match status {
            204 | 304 => 0,
            _ => content_length(text).ok_or_else(malformed)?,
        };
        while self.filled < head + length {
            self.read()?;
        }
        if self.filled > head + length { Err(malformed()) } else { Ok((status, head, length)) }
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

fn content_length(head: &str) -> Option<usize> {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?.1.parse().ok()
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "an answer that is none")
}
