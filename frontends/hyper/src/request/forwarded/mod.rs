//! Facts about a request that proxies report: `X-Forwarded-For` and `X-Forwarded-Proto`.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::networks::Networks;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Returns `true` if the request has at least one of the two headers.
pub(crate) fn is_reported(headers: &HeaderMap) -> bool {
    headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(X_FORWARDED_PROTO)
}

/// Returns the last address in `X-Forwarded-For` that is not one of `proxies`: a client can forge those before it. If all
/// are proxies, returns the first. `None` without the header, or if it is malformed at or after the address.
pub(crate) fn client_address(headers: &HeaderMap, proxies: &Networks) -> Option<IpAddr> {
    let mut client = None;
    for line in headers.get_all(X_FORWARDED_FOR).iter().rev() {
        for part in line.as_bytes().rsplit(|&byte| byte == b',') {
            let address = address(part)?;
            client = Some(address);
            if !proxies.contain(address) {
                return client;
            }
        }
    }
    client
}

/// Parses an address with or without a port or brackets.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?.trim_ascii();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))?;
    Some(address.to_canonical())
}

/// Returns `true` if `X-Forwarded-Proto` contains `https` and nothing else.
pub(crate) fn is_https(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(X_FORWARDED_PROTO).iter().map(HeaderValue::as_bytes);
    let mut schemes = lines.flat_map(|line| line.split(|&byte| byte == b',')).peekable();
    schemes.peek().is_some() && schemes.all(|scheme| scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
}

#[cfg(test)]
mod tests;
