//! [`Client`]: a few keep-alive connections, each with one request in flight.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use catalogue_benches::Connection;

/// Number of connections of a client: enough that the server always has a request to serve.
const CONNECTIONS: usize = 16;

/// Limits of a run of requests, which ends when it reaches either of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
}

/// Connections to a server.
#[derive(Debug)]
pub(crate) struct Client(Vec<Connection>);

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        (0..CONNECTIONS).map(|_| Connection::open(address)).collect::<io::Result<_>>().map(Self)
    }

    /// Sends the requests in turn, repeatedly, until a limit is reached. Returns the number of responses, all of which must
    /// have `status`.
    pub(crate) fn drive(&mut self, requests: &[Vec<u8>], status: u16, bounds: Bounds) -> io::Result<u64> {
        let end = Instant::now() + bounds.time;
        let mut next = requests.iter().cycle();
        let (mut sent, mut response_count) = (0, 0);
        let mut is_finished = false;
        while !is_finished || response_count < sent {
            for connection in &mut self.0 {
                if connection.is_waiting() {
                    let found = connection.receive()?.status;
                    if found != status {
                        return Err(io::Error::other(format!("unexpected status {found} instead of {status}")));
                    }
                    response_count += 1;
                }
                is_finished = is_finished || sent >= bounds.requests;
                if !is_finished && let Some(request) = next.next() {
                    connection.send(request)?;
                    sent += 1;
                }
            }
            is_finished = is_finished || Instant::now() >= end;
        }
        Ok(response_count)
    }
}
