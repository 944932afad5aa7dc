//! `catalogue health`

mod target;
mod unverified;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::Context;
use crate::exit::Failure;
use crate::output;
use crate::text::printable;
use target::Target;

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than a status line has.
const LONGEST_LINE: u64 = 1_000;

pub(super) fn run(url: Option<&str>, context: &Context) -> Result<(), Failure> {
    let target = match url {
        Some(url) => Target::named(url)?,
        None => Target::of_settings(&context.settings)?,
    };
    let address = &target.address;
    let line = status_line(&target).map_err(|error| Failure::work(format!("{address} does not answer: {error}")))?;
    match line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)) {
        Some(status) if status.starts_with('2') => output::print(&format!("{status}: the server is well")),
        Some(status) => Err(Failure::work(format!("{address} answers {status}"))),
        None => Err(Failure::work(format!("{address} does not answer with HTTP: {:?}", printable(line.trim_end())))),
    }
}

/// The first line of the answer.
fn status_line(target: &Target) -> io::Result<String> {
    let stream = connect(&target.address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    match target.https {
        true => ask(unverified::secured(stream)?, target),
        false => ask(stream, target),
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in address.to_socket_addrs()? {
        outcome = TcpStream::connect_timeout(&address, PATIENCE);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn ask(mut stream: impl Read + Write, Target { host, path, .. }: &Target) -> io::Result<String> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    stream.flush()?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut line)?;
    Ok(line)
}
