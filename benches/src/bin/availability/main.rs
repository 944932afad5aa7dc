//! Keeps asking one server over a few connections and counts what was answered, while somebody restarts what is behind
//! it: how many requests failed, when the first of them and the last, and how long the longest answer took.
//!
//! Each line on standard input begins a phase of that name, and its end is the program's. It fails when a request was not
//! answered, or otherwise than with 200 or a status of `--allow`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod options;
mod tally;

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::Connection;

use crate::options::Options;
use crate::tally::{Outcome, Tally};

/// How long nothing is asked after an attempt to connect that failed.
const PAUSE: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    let token = std::env::var("TOKEN").unwrap_or_default();
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    let requests: Vec<_> = options.targets.iter().map(|target| request(&options, target, &token)).collect();
    let (tally, ends) = (Tally::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 0..options.connections {
            let (tally, ends, options, requests) = (&tally, &ends, &options, &requests);
            scope.spawn(move || keep_asking(options, requests, number, tally, ends));
        }
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            tally.begin(line);
        }
        ends.store(true, Ordering::Relaxed);
    });
    print!("{tally}");
    if tally.is_good(&options.allowed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn request(options: &Options, target: &str, token: &str) -> Vec<u8> {
    let address = options.address;
    format!("GET {target} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n").into_bytes()
}

/// Asks over one connection after the other, each as long as it lasts.
fn keep_asking(options: &Options, requests: &[Vec<u8>], number: u32, tally: &Tally, ends: &AtomicBool) {
    let mut connection = None;
    // The connections take turns where there is a rate.
    let period = options.rate.map(|rate| Duration::from_secs(1) * options.connections / rate);
    let mut due = Instant::now() + period.unwrap_or_default() * number / options.connections;
    for request in requests.iter().cycle() {
        if let Some(period) = period {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            // What is late is not made up for: that would be a burst.
            due = (due + period).max(Instant::now());
        }
        if ends.load(Ordering::Relaxed) {
            return;
        }
        let began = Instant::now();
        let outcome = ask(options, &mut connection, request);
        if connection.is_none() && outcome == Outcome::Unanswered {
            thread::sleep(PAUSE);
        }
        tally.note(began, outcome);
    }
}

/// Asks once, over the connection that there is or a new one. It is kept where it can be.
fn ask(options: &Options, kept: &mut Option<Connection>, request: &[u8]) -> Outcome {
    let Some(mut connection) = kept.take().or_else(|| Connection::open(options.address).ok()) else {
        return Outcome::Unanswered;
    };
    let Ok(answer) = connection.ask(request) else { return Outcome::Unanswered };
    let (status, ended) = (answer.status, answer.field("connection") == Ok("close"));
    *kept = Some(connection).filter(|_| !ended);
    Outcome::Answered(status)
}
