//! The client that is measured: it asks for the same page again and again, which is kept.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::{Connection, Figures, Owner};

use crate::walk::request;

/// From one request to the next.
const PAUSE: Duration = Duration::from_millis(2);
/// How many requests go before the measured ones.
const WARM_UP: usize = 200;

/// A client whose page is kept.
pub(crate) struct Hot {
    connection: Connection,
    request: Vec<u8>,
}

impl Hot {
    /// Connects and asks until the page is kept and the server is warm.
    pub(crate) fn warm_up(address: SocketAddr, owner: &Owner) -> Result<Self, String> {
        let connection = Connection::open(address).map_err(failed)?;
        let mut client = Self { connection, request: request(owner, "/courses") };
        (0..WARM_UP).try_for_each(|_| client.ask())?;
        Ok(client)
    }

    /// How long each answer took in µs, until the end or until all is over.
    ///
    /// A request that is late because the one before it took so long counts from when it was due: a client that waits does
    /// not make the figures better.
    pub(crate) fn latencies(&mut self, end: Instant, over: &AtomicBool) -> Result<Figures, String> {
        let mut latencies = Vec::new();
        let mut due = Instant::now();
        while Instant::now() < end && !over.load(Ordering::Relaxed) {
            let early = due.saturating_duration_since(Instant::now());
            let from = if early.is_zero() {
                due
            } else {
                thread::sleep(early);
                Instant::now()
            };
            self.ask()?;
            latencies.push(from.elapsed().as_secs_f64() * 1e6);
            due += PAUSE;
        }
        Ok(Figures::from_iter(latencies))
    }

    fn ask(&mut self) -> Result<(), String> {
        match self.connection.ask(&self.request).map_err(failed)?.status {
            200 => Ok(()),
            status => Err(format!("the client: an answer of status {status}")),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn failed(error: io::Error) -> String {
    format!("the client: {error}")
}
