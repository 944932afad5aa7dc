//! Sends requests to one server over a few connections while the operator restarts its backends, and reports the statuses,
//! when the first and the last request failed, and the longest response time.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

mod tally;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::Connection;
use clap::Parser;

use crate::tally::Tally;

/// Number of connections, each with one request at a time.
const CONNECTIONS: u32 = 16;
/// Delay after a request without a response.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Send requests to one server and count the responses
///
/// Each line on standard input begins a phase named like the line; the end of the input ends the program. It fails if a
/// request gets no response, or a status other than 200 that no --allow names.
#[derive(Parser)]
#[command(name = "availability")]
struct Options {
    /// Address of the server, such as 127.0.0.1:8080
    address: SocketAddr,
    /// Bearer token of the requests
    #[arg(long, env = "TOKEN", hide_env_values = true, value_parser = token)]
    token: String,
    /// Maximum number of requests a second, of all connections [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Additional status that is not a failure; can be repeated
    #[arg(long = "allow", value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..1_000))]
    allowed: Vec<u16>,
}

fn token(text: &str) -> Result<String, String> {
    let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| text.to_owned()).ok_or_else(|| "invalid token; use visible ASCII characters".to_owned())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let Options { address, token, .. } = &options;
    let request =
        |target| format!("GET {target} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n").into();
    let requests: [Vec<u8>; 2] = ["/api/v1/courses", "/api/v1/me"].map(request);
    let (tally, stop) = (Tally::new("start"), AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let (tally, stop, options, requests) = (&tally, &stop, &options, &requests);
            scope.spawn(move || send_requests(options, requests, number, tally, stop));
        }
        for line in io::stdin().lines().map_while(Result::ok) {
            tally.begin(line);
        }
        stop.store(true, Ordering::Relaxed);
    });
    print!("{tally}");
    if tally.is_success(&options.allowed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sends requests over one connection at a time; a new one replaces a closed one.
fn send_requests(options: &Options, requests: &[Vec<u8>], number: u32, tally: &Tally, stop: &AtomicBool) {
    let mut connection = None;
    // With a rate, the connections' requests are staggered.
    let period = options.rate.map(|rate| Duration::from_secs(1) * CONNECTIONS / rate);
    let mut due = Instant::now() + period.unwrap_or_default() * number / CONNECTIONS;
    for request in requests.iter().cycle() {
        if let Some(period) = period {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            // Late requests are not caught up on: that would be a burst.
            due = (due + period).max(Instant::now());
        }
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let status = request_status(options.address, &mut connection, request);
        tally.record(began, status);
        if status.is_none() {
            thread::sleep(RETRY_DELAY);
        }
    }
}

/// Sends a request over the existing connection or a new one, and returns the status. Keeps the connection if possible.
fn request_status(address: SocketAddr, idle_connection: &mut Option<Connection>, request: &[u8]) -> Option<u16> {
    let mut connection = idle_connection.take().or_else(|| Connection::open(address).ok())?;
    let response = connection.round_trip(request).ok()?;
    let (status, ended) = (response.status, response.field("connection") == Ok("close"));
    *idle_connection = Some(connection).filter(|_| !ended);
    Some(status)
}
