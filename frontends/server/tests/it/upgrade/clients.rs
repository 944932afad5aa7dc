//! [`Load`]: clients behind a load balancer that tries another server only if a connection is refused.

use std::io::{BufReader, ErrorKind, Write, stderr};
use std::net::TcpStream;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::program::read_response;

/// Paths whose bodies must not change during the upgrade.
const PATHS: [&str; 4] = ["/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/one", "/api/v1/me"];

/// Number of clients; every other client keeps its connection open.
const CLIENTS: usize = 4;

/// Idle time within which a stopping server must still respond on an open connection.
const IDLE_LIMIT: Duration = Duration::from_millis(500);

/// Maximum number of requests that a client sends over one connection.
const REQUESTS: usize = 20;

pub(crate) struct Load {
    addresses: RwLock<Vec<String>>,
    token: String,
    /// Expected bodies, in the order of [`PATHS`].
    bodies: Vec<String>,
    response_count: AtomicUsize,
    /// Whether a response may be a regular 500.
    may_fail: bool,
    failure_count: AtomicUsize,
    is_running: AtomicBool,
}

/// Ends a load when dropped, even if a client or the test fails.
pub(crate) struct Ending<'l>(pub(crate) &'l AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Load {
    /// Sends requests to `addresses` while `steps` runs. Each response must be a 200 with the same body as at the start, or a
    /// regular 500 if `may_fail`.
    pub(crate) fn run_during(addresses: Vec<String>, token: &str, may_fail: bool, steps: impl FnOnce(&Self)) {
        let mut load = Self {
            addresses: RwLock::new(addresses),
            token: token.to_owned(),
            bodies: Vec::new(),
            response_count: AtomicUsize::default(),
            may_fail,
            failure_count: AtomicUsize::default(),
            is_running: AtomicBool::new(true),
        };
        load.bodies = PATHS.iter().map(|path| Client::new(&load, 0, false).get(path).unwrap()).collect();
        thread::scope(|scope| {
            for number in 0..CLIENTS {
                let mut client = Client::new(&load, number, number % 2 == 0);
                scope.spawn(move || client.run());
            }
            let _ending = Ending(&load.is_running);
            steps(&load);
        });
        let [response_count, failure_count] =
            [load.response_count, load.failure_count].map(|count| count.load(Ordering::Relaxed));
        stderr().write_all(format!("{response_count} responses, {failure_count} failures\n").as_bytes()).unwrap();
    }

    /// Waits for enough responses to be sure that each address has responded several times.
    pub(crate) fn wait_for_responses(&self) {
        self.wait_for(&self.response_count, 10 * CLIENTS * REQUESTS);
    }

    /// Waits for several failures.
    pub(crate) fn wait_for_failures(&self) {
        self.wait_for(&self.failure_count, 20);
    }

    fn wait_for(&self, count: &AtomicUsize, more: usize) {
        let enough = count.load(Ordering::Relaxed) + more;
        while count.load(Ordering::Relaxed) < enough {
            assert!(self.is_running.load(Ordering::Relaxed), "a response was wrong");
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub(super) fn add_address(&self, address: &str) {
        self.addresses.write().unwrap().push(address.to_owned());
    }

    pub(super) fn remove_address(&self, address: &str) {
        self.addresses.write().unwrap().retain(|other| other != address);
    }
}

struct Client<'l> {
    load: &'l Load,
    turn: usize,
    keeps: bool,
    /// Open connection, time of its last response, and number of responses.
    idle: Option<(BufReader<TcpStream>, Instant, usize)>,
}

impl<'l> Client<'l> {
    const fn new(load: &'l Load, turn: usize, keeps: bool) -> Self {
        Self { load, turn, keeps, idle: None }
    }

    fn run(&mut self) {
        let _ending = Ending(&self.load.is_running);
        while self.load.is_running.load(Ordering::Relaxed) {
            for (path, body) in PATHS.iter().zip(&self.load.bodies) {
                let found = self.get(path);
                assert!(found.as_ref().is_none_or(|found| found == body), "{path}: {found:?} instead of {body}");
                let count = if found.is_some() { &self.load.response_count } else { &self.load.failure_count };
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the body of the response, or `None` if the response is an allowed failure.
    fn get(&mut self, path: &str) -> Option<String> {
        let idle = self.idle.take().filter(|(_, last, count)| last.elapsed() < IDLE_LIMIT / 2 && *count < REQUESTS);
        let (mut stream, _, count) = idle.unwrap_or_else(|| (self.connect(), Instant::now(), 0));
        let kind = if self.keeps { "keep-alive" } else { "close" };
        let token = &self.load.token;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nConnection: {kind}\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        let response = read_response(&mut stream).unwrap_or_else(|| panic!("no response to request {count}"));
        let has_failed = self.load.may_fail && response.status == 500 && response.body.contains("\"internal_error\"");
        assert!(has_failed || response.status == 200, "{path}: {response:?}");
        let closes = !self.keeps || response.field("connection") == Some("close");
        self.idle = (!closes).then(|| (stream, Instant::now(), count + 1));
        (!has_failed).then_some(response.body)
    }

    /// Connects to the next server that does not refuse.
    fn connect(&mut self) -> BufReader<TcpStream> {
        let addresses = self.load.addresses.read().unwrap().clone();
        for _ in &addresses {
            self.turn += 1;
            match TcpStream::connect(&addresses[self.turn % addresses.len()]) {
                Ok(stream) => return BufReader::new(stream),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("all servers refuse a connection");
    }
}
