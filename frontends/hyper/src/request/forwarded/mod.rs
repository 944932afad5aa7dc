//! What proxies tell of a request: `Forwarded` (RFC 7239), and `X-Forwarded-For` with `X-Forwarded-Proto`.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::networks::Networks;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// How many bytes of a field are read: more than any proxies write.
const MOST_BYTES: usize = 2 * 1024;

/// A sender of a request, and how it reached the proxy that tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    /// `None` where the proxy does not tell.
    pub(crate) address: Option<IpAddr>,
    pub(crate) https: bool,
}

/// The first sender, as the proxies tell: the last address that is not one of `proxies`. What stands before it anybody can
/// have written. `None` where nothing is told, where it cannot be read, or where the two ways to tell it differ: a proxy that
/// knows one of them passes on whatever the client has written in the other.
pub(crate) fn origin(headers: &HeaderMap, proxies: &Networks) -> Option<Hop> {
    let standard = headers.contains_key(FORWARDED).then(|| {
        first_sender(headers, FORWARDED, proxies, |line| Some(elements(line)?.into_iter().rev().map(|it| it.hop())))
    });
    // Nothing is quoted in it.
    let common = headers.contains_key(X_FORWARDED_FOR).then(|| {
        first_sender(headers, X_FORWARDED_FOR, proxies, |line| Some(line.rsplit(|byte| *byte == b',').map(plain)))
    });
    let https = is_https(headers);
    match (standard, common) {
        (None, None) => https.map(|https| Hop { address: None, https }),
        (Some(standard), None) => standard,
        (None, Some(common)) => Some(Hop { https: https.unwrap_or(false), ..common? }),
        (Some(standard), Some(common)) => {
            let (standard, common) = (standard?, common?);
            let https = standard.https && https.unwrap_or(true);
            (standard.address == common.address).then_some(Hop { https, ..standard })
        }
    }
}

/// Goes through a field from its end to the first sender that is no proxy; where all are, to the first of all. Line by
/// line, for the lines before the one that a proxy has added can hold anything.
fn first_sender<'h, I: Iterator<Item = Option<Hop>>>(
    headers: &'h HeaderMap,
    name: HeaderName,
    proxies: &Networks,
    from_last: impl Fn(&'h [u8]) -> Option<I>,
) -> Option<Hop> {
    let (mut sender, mut room) = (None, MOST_BYTES);
    for line in headers.get_all(name).iter().rev() {
        room = room.checked_sub(line.len())?;
        for hop in from_last(line.as_bytes())? {
            sender = Some(hop?);
            if !hop?.address.is_some_and(|address| proxies.contain(address)) {
                return sender;
            }
        }
    }
    sender
}

/// An element of `X-Forwarded-For`: an address, by some proxies with a port.
fn plain(text: &[u8]) -> Option<Hop> {
    Some(Hop { address: node(text.trim_ascii())?, https: false })
}

/// What an element of `Forwarded` says of a sender.
#[derive(Default)]
struct Element<'l> {
    node: Option<Cow<'l, [u8]>>,
    scheme: Option<Cow<'l, [u8]>>,
}

impl Element<'_> {
    fn hop(&self) -> Option<Hop> {
        let address = self.node.as_deref().map_or(Some(None), node)?;
        Some(Hop { address, https: self.scheme.as_ref().is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https")) })
    }
}

/// The elements of a line of `Forwarded`: pairs of a name and a value. Where anything in it is not as RFC 7239 section 4
/// has it, nobody can say where a quoted string ends, and the whole line cannot be read.
fn elements(line: &[u8]) -> Option<Vec<Element<'_>>> {
    let (mut elements, mut rest) = (vec![Element::default()], line);
    loop {
        let element = elements.last_mut()?;
        let (name, behind) = token(rest.trim_ascii_start())?;
        let (value, behind) = value(behind.strip_prefix(b"=")?)?;
        let known = match name {
            _ if name.eq_ignore_ascii_case(b"for") => element.node.replace(value),
            _ if name.eq_ignore_ascii_case(b"proto") => element.scheme.replace(value),
            _ => None,
        };
        if known.is_some() {
            return None;
        }
        match behind.trim_ascii_start() {
            [b';', more @ ..] => rest = more,
            [b',', more @ ..] => {
                elements.push(Element::default());
                rest = more;
            }
            [] => return Some(elements),
            _ => return None,
        }
    }
}

/// The token that a text begins with (RFC 9110, 5.6.2), and what stands behind it.
fn token(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_of_tokens = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let end = text.iter().position(|byte| !is_of_tokens(byte)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// A token as it is, or what a quoted string holds (RFC 9110, 5.6.4), and what stands behind it.
fn value(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let Some(quoted) = text.strip_prefix(b"\"") else { return token(text).map(|(token, rest)| (token.into(), rest)) };
    let (mut value, mut bytes) = (Vec::new(), quoted.iter());
    loop {
        match bytes.next()? {
            b'"' => return Some((value.into(), bytes.as_slice())),
            b'\\' => value.push(*bytes.next()?),
            byte => value.push(*byte),
        }
    }
}

/// An address with or without a port or brackets. `Some(None)` is one that is hidden on purpose (RFC 7239, 6.2 and 6.3).
fn node(text: &[u8]) -> Option<Option<IpAddr>> {
    let text = str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()));
    let name = text.split(':').next()?;
    let is_hidden = name.starts_with('_') || name.eq_ignore_ascii_case("unknown");
    (address.is_some() || is_hidden).then(|| address.map(|address| address.to_canonical()))
}

/// Whether `X-Forwarded-Proto` says HTTPS, and nothing else; `None` where it is not there.
fn is_https(headers: &HeaderMap) -> Option<bool> {
    let lines = headers.get_all(X_FORWARDED_PROTO);
    let bytes: usize = lines.iter().map(HeaderValue::len).sum();
    let mut schemes = lines.iter().flat_map(|line| line.as_bytes().split(|&byte| byte == b',')).peekable();
    schemes.peek()?;
    Some(bytes <= MOST_BYTES && schemes.all(|scheme| scheme.trim_ascii().eq_ignore_ascii_case(b"https")))
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
