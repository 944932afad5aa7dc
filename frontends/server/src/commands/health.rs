//! `catalogue health`

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use catalogue_core::parse_http_url;
use http::Uri;

use super::Context;
use super::serving::reachable_address;
use crate::exit::Failure;
use crate::output;
use crate::settings::Settings;
use crate::settings::table::{DOCS_URL, LISTEN, TLS_CERT};
use crate::text::printable;

/// Timeout for connecting, and for each read and write.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a status line in bytes; the rest is not read.
const MAX_LINE: u64 = 1_000;

const HINT: &str = "use http://ADDRESS:PORT/PATH, e.g. http://127.0.0.1:8080/docs/openapi.json";

pub(super) fn run(url: Option<&str>, context: &Context) -> Result<(), Failure> {
    let (address, path) = match url {
        Some(url) => parse_url(url)?,
        None => docs_address(&context.settings)?,
    };
    // A server that speaks only TLS responds to plain HTTP with 400. Expecting the 400 avoids a TLS handshake, which would
    // fail: the certificate is for the server's public name, not for `address`.
    let https = url.is_none() && context.settings.is_given(&TLS_CERT);
    let expected_status = if https { "400" } else { "2" };
    let line =
        status_line(&address, &path).map_err(|error| Failure::work(format!("{address} does not respond: {error}")))?;
    match line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)) {
        Some(status) if !status.starts_with(expected_status) => {
            Err(Failure::work(format!("{address} returned {status}")))
        }
        Some(_) if https => output::print("healthy, with TLS"),
        Some(status) => output::print(&format!("{status}: healthy")),
        None => Err(Failure::work(format!("{address} does not respond with HTTP: {:?}", printable(line.trim_end())))),
    }
}

/// Returns the host and port of a URL, and its path.
fn parse_url(url: &str) -> Result<(String, String), Failure> {
    let uri = parse_http_url(url).ok().filter(|uri| uri.scheme_str() == Some("http"));
    let uri = uri.ok_or_else(|| Failure::usage(format!("invalid URL {url:?}; {HINT}")))?;
    let address = format!("{}:{}", uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(80));
    Ok((address, uri.path_and_query().map_or("/", |path| path.as_str()).to_owned()))
}

/// Returns the address at which this machine reaches the server of `settings`, and the path of its OpenAPI document.
fn docs_address(settings: &Settings) -> Result<(String, String), Failure> {
    let (listening, docs_url) = (settings.get(&LISTEN), settings.text(&DOCS_URL).unwrap_or_default());
    settings.finish()?;
    if listening.port() == 0 {
        let what = format!("port 0 is any free port, so the server's port is not known; {HINT}");
        return Err(Failure::usage(what));
    }
    // An invalid URL is not reported: `serve` refuses it, so no server responds.
    let docs_url: Uri = docs_url.parse().unwrap_or_default();
    Ok((reachable_address(listening).to_string(), format!("{}/openapi.json", docs_url.path().trim_end_matches('/'))))
}

/// Returns the first line of the response.
fn status_line(address: &str, path: &str) -> io::Result<String> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::NotFound, "the host name has no address"));
    for address in address.to_socket_addrs()? {
        outcome = TcpStream::connect_timeout(&address, TIMEOUT);
        if outcome.is_ok() {
            break;
        }
    }
    let mut stream = outcome?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_LINE)).read_line(&mut line)?;
    Ok(line)
}
