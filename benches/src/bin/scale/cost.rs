//! [`Cost`]: what a request costs the servers and the database, by the kernel's account of their processes.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use catalogue_benches::{Connection, Figures, Program, cpu_of_process};

use crate::callers::request;
use crate::database::Database;
use crate::interrupt;

/// How often each measurement is made.
const ROUNDS: usize = 3;
/// What is sent before a measurement at least: enough that each session has prepared its statements.
const WARM_UP: usize = 400;

/// Requests that are all answered with that status.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) requests: Vec<Vec<u8>>,
    pub(crate) status: u16,
}

impl Work {
    pub(crate) fn new(name: &'static str, requests: Vec<Vec<u8>>) -> Self {
        Self { name, requests, status: 200 }
    }

    /// Asked by someone who has the answer already, as one of the servers there has given it.
    pub(crate) fn not_modified(
        name: &'static str,
        token: &str,
        path: &str,
        address: SocketAddr,
    ) -> Result<Self, Box<dyn Error>> {
        let tag = Connection::open(address)?.ask(&request(token, path, ""))?.field("etag")?.to_owned();
        let known = request(token, path, &format!("if-none-match: {tag}\r\n"));
        Ok(Self { name, requests: vec![known], status: 304 })
    }
}

/// µs of the processor's time for one request, the median of several measurements.
pub(crate) struct Cost {
    /// Of all servers together.
    pub(crate) servers: Figures,
    /// Of the database's sessions.
    pub(crate) database: Figures,
}

impl Cost {
    /// Sends so many requests at a time to an address that leads to those servers, over that many connections to each.
    pub(crate) fn of(
        work: &Work,
        number: usize,
        connections: usize,
        servers: &[Program],
        address: SocketAddr,
        database: &Database,
    ) -> Result<Self, Box<dyn Error>> {
        let mut client = Client::connect(address, connections * servers.len())?;
        client.drive(work, WARM_UP.max(work.requests.len()) * servers.len())?;
        let mut samples = Vec::new();
        let mut failures = 0;
        while samples.len() < ROUNDS {
            let (server, session) = (of_all(servers)?, database.sessions()?);
            client.drive(work, number)?;
            let server = of_all(servers)?.saturating_sub(server);
            match database.sessions()?.used_since(&session) {
                Ok(session) => samples.push([server, session].map(|used| used.as_secs_f64() * 1e6 / number as f64)),
                Err(error) if failures == ROUNDS => return Err(error.into()),
                // A server opens a session when it first needs one more.
                Err(_) => failures += 1,
            }
        }
        Ok(Self {
            servers: samples.iter().map(|sample| sample[0]).collect(),
            database: samples.iter().map(|sample| sample[1]).collect(),
        })
    }
}

fn of_all(servers: &[Program]) -> io::Result<Duration> {
    servers.iter().map(|server| cpu_of_process(server.id())).sum()
}

/// Connections that are kept alive.
struct Client(Vec<Connection>);

impl Client {
    fn connect(address: SocketAddr, connections: usize) -> io::Result<Self> {
        (0..connections).map(|_| Connection::open(address)).collect::<io::Result<_>>().map(Self)
    }

    /// Sends that many requests, one on each connection at a time.
    fn drive(&mut self, work: &Work, number: usize) -> Result<(), Box<dyn Error>> {
        let mut requests = work.requests.iter().cycle().take(number);
        loop {
            interrupt::check()?;
            let mut idle = 0;
            for connection in &mut self.0 {
                if connection.is_waiting() {
                    let status = connection.receive()?.status;
                    if status != work.status {
                        return Err(format!("{}: an answer of status {status}", work.name).into());
                    }
                }
                match requests.next() {
                    Some(request) => connection.send(request)?,
                    None => idle += 1,
                }
            }
            if idle == self.0.len() {
                return Ok(());
            }
        }
    }
}
