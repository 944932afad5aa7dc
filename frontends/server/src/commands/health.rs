//! `catalogue health`

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use http::Uri;

use crate::cli::HealthArguments;
use crate::exit::Failure;
use crate::output;
use crate::text::printable;

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than a status line has.
const LONGEST_LINE: u64 = 1_000;

const RIGHT: &str = "write http://ADDRESS:PORT/PATH, like http://127.0.0.1:8080/docs/openapi.json";

pub(super) fn run(arguments: &HealthArguments) -> Result<(), Failure> {
    let wrong = || Failure::usage(format!("{:?} is not an address to ask; {RIGHT}", arguments.url));
    let uri: Uri = arguments.url.parse().map_err(|_| wrong())?;
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let address = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
    let line = status_line(&address, authority.as_str(), path)
        .map_err(|error| Failure::work(format!("{address} does not answer: {error}")))?;
    match line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)) {
        Some(status) if status.starts_with('2') => output::print(&format!("{status}: the server is well")),
        Some(status) => Err(Failure::work(format!("{address} answers {status}"))),
        None => Err(Failure::work(format!("{address} does not answer with HTTP: {:?}", printable(line.trim_end())))),
    }
}

/// The first line of the answer.
fn status_line(address: &str, host: &str, path: &str) -> io::Result<String> {
    let addresses = address.to_socket_addrs()?;
    let mut outcome = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in addresses {
        outcome = TcpStream::connect_timeout(&address, PATIENCE);
        if outcome.is_ok() {
            break;
        }
    }
    let mut stream = outcome?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut line)?;
    Ok(line)
}
