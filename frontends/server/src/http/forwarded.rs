//! What proxies tell of a request: `Forwarded` (RFC 7239), and `X-Forwarded-For` with `X-Forwarded-Proto`.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header::FORWARDED};

use super::network::Networks;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// A sender of a request, and how it reached the proxy that tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// `None` where the proxy does not tell.
    pub(super) address: Option<IpAddr>,
    pub(super) https: bool,
}

/// The first sender, as the proxies tell: of the addresses in the order in which they were added, the last that is not
/// one of `proxies`. What stands before it anybody can have written.
///
/// `None` where nothing is told, or what is told cannot be read. That is also so where the two ways to tell it differ:
/// a proxy that knows one of them passes on whatever the client has written in the other.
pub(super) fn origin(headers: &HeaderMap, proxies: &Networks) -> Option<Hop> {
    let standard = told(headers, &FORWARDED).map(|text| first_sender(&text, proxies, element));
    let common = told(headers, &X_FORWARDED_FOR).map(|text| first_sender(&text, proxies, plain));
    let (standard, common) = match (standard, common) {
        (None, None) => return is_https(headers).map(|https| Hop { address: None, https }),
        (Some(standard), None) => return standard,
        (standard, Some(common)) => (standard, Hop { https: is_https(headers).unwrap_or(false), ..common? }),
    };
    match standard {
        None => Some(common),
        Some(standard) => standard.filter(|standard| standard.address == common.address),
    }
}

/// All lines of a header as one list.
fn told(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines: Vec<_> =
        headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// Goes through a list from its end to the first sender that is no proxy; where all are, to the first of all.
fn first_sender(list: &str, proxies: &Networks, read: impl Fn(&str) -> Option<Hop>) -> Option<Hop> {
    let mut sender = None;
    for text in split(list, ',').into_iter().rev() {
        let hop = read(text)?;
        sender = Some(hop);
        if !hop.address.is_some_and(|address| proxies.contain(address)) {
            break;
        }
    }
    sender
}

/// An element of `X-Forwarded-For`: an address, by some proxies with a port.
fn plain(text: &str) -> Option<Hop> {
    Some(Hop { address: node(text)?, https: false })
}

/// An element of `Forwarded`: pairs of a name and a token or a quoted string.
fn element(text: &str) -> Option<Hop> {
    let (mut address, mut https) = (None, false);
    for pair in split(text, ';') {
        let (name, value) = pair.split_once('=')?;
        let value = unquoted(value.trim())?;
        if name.trim().eq_ignore_ascii_case("for") {
            address = node(&value)?;
        } else if name.trim().eq_ignore_ascii_case("proto") {
            https = value.eq_ignore_ascii_case("https");
        }
    }
    Some(Hop { address, https })
}

/// Splits where `separator` stands outside of quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let outside = |character: char| {
        let splits = character == separator && !quoted;
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && character == '\\' && !escaped;
        splits
    };
    text.split(outside).map(str::trim).collect()
}

/// A token as it is, or what a quoted string holds (RFC 9110, 5.6.4).
fn unquoted(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else { return Some(text.to_owned()) };
    let mut value = String::new();
    let mut characters = inner.strip_suffix('"')?.chars();
    while let Some(character) = characters.next() {
        value.push(if character == '\\' { characters.next()? } else { character });
    }
    Some(value)
}

/// An address with or without a port, of IPv6 with or without brackets. `Some(None)` is one that is not told on purpose
/// (RFC 7239, 6.2 and 6.3).
fn node(text: &str) -> Option<Option<IpAddr>> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()));
    let hidden = || {
        let name = text.split(':').next().unwrap_or_default();
        name.starts_with('_') || name.eq_ignore_ascii_case("unknown")
    };
    match address {
        Some(address) => Some(Some(address.to_canonical())),
        None => hidden().then_some(None),
    }
}

/// Whether `X-Forwarded-Proto` says HTTPS, and nothing else; `None` where it is not there.
fn is_https(headers: &HeaderMap) -> Option<bool> {
    let list = told(headers, &X_FORWARDED_PROTO)?;
    Some(list.split(',').all(|scheme| scheme.trim().eq_ignore_ascii_case("https")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies() -> Networks {
        ["10.0.0.0/8", "2001:db8:1::/48"].iter().map(|text| text.parse().unwrap()).collect()
    }

    fn origin_of(lines: &[(&'static str, &str)]) -> Option<(String, bool)> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let shown = |address: Option<IpAddr>| address.map_or("hidden".to_owned(), |address| address.to_string());
        origin(&headers, &proxies()).map(|hop| (shown(hop.address), hop.https))
    }

    #[test]
    fn the_last_sender_that_is_no_proxy_is_the_client() {
        for (lines, address) in [
            (&["192.0.2.1"][..], "192.0.2.1"),
            (&["192.0.2.9, 192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.9, 192.0.2.1, 10.1.2.3,10.9.9.9"], "192.0.2.1"),
            (&["192.0.2.9", "192.0.2.1", "10.1.2.3"], "192.0.2.1"),
            (&["nonsense, 192.0.2.1"], "192.0.2.1"),
            (&["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
            (&["192.0.2.1:4711"], "192.0.2.1"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
            (&["2001:db8::1, 2001:db8:1::2"], "2001:db8::1"),
            (&["::ffff:192.0.2.1"], "192.0.2.1"),
        ] {
            let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
            assert_eq!(origin_of(&lines), Some((address.to_owned(), false)), "{lines:?}");
        }
    }

    #[test]
    fn the_standard_header_is_read_as_well() {
        for (line, address, https) in [
            ("for=192.0.2.1", "192.0.2.1", false),
            ("For=\"192.0.2.1:4711\";Proto=HTTPS;by=10.0.0.1", "192.0.2.1", true),
            ("for=192.0.2.9;proto=https, for=192.0.2.1;proto=http", "192.0.2.1", false),
            ("for=192.0.2.1;proto=https, for=10.0.0.1;proto=http", "192.0.2.1", true),
            ("for=\"[2001:db8::1]:4711\"", "2001:db8::1", false),
            ("for=unknown;proto=https", "hidden", true),
            ("proto=https;for=_Proxy-7", "hidden", true),
            ("for=192.0.2.1, for=\"_hidden:_4711\";proto=http", "hidden", false),
            ("for=_a;proto=https, for=10.0.0.1;proto=http", "hidden", true),
            ("proto=https", "hidden", true),
            ("for=\"192\\.0.2.1\" ; host=\"a,b;c\\\"\"", "192.0.2.1", false),
        ] {
            assert_eq!(origin_of(&[("forwarded", line)]), Some((address.to_owned(), https)), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_read_tells_nothing() {
        for line in ["", "nonsense", "192.0.2.1,", "192.0.2.1, none", "192.0.2.256", "[2001:db8::1", "for=192.0.2.1"] {
            assert_eq!(origin_of(&[("x-forwarded-for", line)]), None, "{line}");
        }
        for line in ["", "for", "for=", "for=hidden", "for=\"192.0.2.1", "for=192.0.2.256;proto=https", "192.0.2.1"] {
            assert_eq!(origin_of(&[("forwarded", line)]), None, "{line}");
        }
        assert_eq!(origin_of(&[]), None);
    }

    #[test]
    fn two_headers_that_differ_tell_nothing() {
        let both = |standard, common| origin_of(&[("forwarded", standard), ("x-forwarded-for", common)]);
        assert_eq!(both("for=192.0.2.1;proto=https", "192.0.2.1"), Some(("192.0.2.1".to_owned(), true)));
        assert_eq!(both("for=192.0.2.9", "192.0.2.1"), None);
        assert_eq!(both("nonsense", "192.0.2.1"), None);
        assert_eq!(both("for=192.0.2.1", "nonsense"), None);
    }

    #[test]
    fn the_scheme_is_https_where_nothing_says_otherwise() {
        let scheme =
            |line| origin_of(&[("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", line)]).map(|(_, https)| https);
        for (line, https) in [("https", true), ("HTTPS, https", true), ("https, http", false), ("", false)] {
            assert_eq!(scheme(line), Some(https), "{line}");
            assert_eq!(origin_of(&[("x-forwarded-proto", line)]), Some(("hidden".to_owned(), https)), "{line}");
        }
        let hidden = [("x-forwarded-for", "192.0.2.1, unknown"), ("x-forwarded-proto", "https")];
        assert_eq!(origin_of(&hidden), Some(("hidden".to_owned(), true)));
    }
}
