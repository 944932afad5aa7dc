//! Checks of a request's head that hyper leaves to the caller.

use std::net::Ipv6Addr;

use http::header::{HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Version};

/// Returns whether a server may act on the head; if not, the request gets a 400.
pub(crate) fn is_valid_head(head: &Parts) -> bool {
    is_target_valid_for_method(head) && has_valid_host(head) && has_only_chunked_coding(head)
}

/// Checks the target: a bare authority is for CONNECT only, and the asterisk for OPTIONS (RFC 9112, 3.2).
fn is_target_valid_for_method(head: &Parts) -> bool {
    match head.uri.path() {
        "" => head.method == Method::CONNECT,
        "*" => head.method == Method::OPTIONS,
        _ => head.method != Method::CONNECT,
    }
}

/// Checks that chunked is the only coding: it must come once and last (RFC 9112, 6.1), and no other is supported. hyper
/// checks only the last one, and another server on the path may check the first.
fn has_only_chunked_coding(head: &Parts) -> bool {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let known = codings.next().is_none_or(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
    known && codings.next().is_none()
}

/// Checks for one valid `Host`, except with HTTP/1.0 (RFC 9112, 3.2); in HTTP/2 it must match the authority (RFC 9113, 8.3.1).
fn has_valid_host(head: &Parts) -> bool {
    let mut hosts = head.headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
    match (hosts.next(), hosts.next()) {
        (_, Some(_)) => false,
        (host, None) if head.version == Version::HTTP_2 => {
            let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes());
            let same = authority.zip(host).is_none_or(|(authority, host)| host.eq_ignore_ascii_case(authority));
            same && authority.or(host).is_some_and(is_host_and_port)
        }
        (host, None) => host.map_or(head.version < Version::HTTP_11, is_host_and_port),
    }
}

/// Checks for a non-empty `uri-host [ ":" port ]` (RFC 9110, 7.2), with the names of RFC 3986, 3.2.2.
fn is_host_and_port(value: &[u8]) -> bool {
    if let Some(rest) = value.strip_prefix(b"[") {
        let end = rest.iter().position(|&byte| byte == b']');
        return end.is_some_and(|end| is_ip_literal(&rest[..end]) && is_port(&rest[end + 1..]));
    }
    let end = value.iter().position(|&byte| byte == b':').unwrap_or(value.len());
    is_name(&value[..end]) && is_port(&value[end..])
}

/// Checks for nothing, a lone colon, or a colon and a port.
fn is_port(suffix: &[u8]) -> bool {
    let Some(port) = suffix.strip_prefix(b":") else { return suffix.is_empty() };
    let is_number = || str::from_utf8(port).is_ok_and(|port| port.parse::<u16>().is_ok());
    // `parse` would accept a sign.
    port.is_empty() || port[0].is_ascii_digit() && is_number()
}

/// Checks the text in brackets: an IPv6 address, or `"v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`.
fn is_ip_literal(literal: &[u8]) -> bool {
    let Ok(literal) = str::from_utf8(literal) else { return false };
    let Some((version, address)) = literal.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.')) else {
        return literal.parse::<Ipv6Addr>().is_ok();
    };
    !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !address.is_empty()
        && are_name_bytes(address.replace(':', "").as_bytes())
}

/// Checks for a registered name or an IPv4 address.
fn is_name(name: &[u8]) -> bool {
    let mut parts = name.split(|&byte| byte == b'%');
    let is_encoded = |part: &[u8]| part.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let is_plain = parts.next().is_some_and(are_name_bytes);
    !name.is_empty() && is_plain && parts.all(|part| is_encoded(part) && are_name_bytes(part))
}

/// Checks for unreserved characters and sub-delimiters of RFC 3986.
fn are_name_bytes(bytes: &[u8]) -> bool {
    let is_mark = |byte: u8| matches!(byte, b'!' | b'$' | b'&'..=b'.' | b';' | b'=' | b'_' | b'~');
    bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

/// Returns the length of the head in canonical form, which nearly all clients send: an origin-form target, `name: value`,
/// CRLF. If exactly as many bytes were read, they were only this head; otherwise, more was read or the form differs.
pub(crate) fn canonical_head_len<B>(request: &Request<B>) -> usize {
    let (target, headers) = (request.uri().path_and_query(), request.headers());
    let line = request.method().as_str().len() + target.map_or(0, |target| target.as_str().len());
    let fields: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    line + "  HTTP/1.1\r\n".len() + fields + headers.len() * ": \r\n".len() + "\r\n".len()
}

#[cfg(test)]
mod tests {
    use super::is_host_and_port;

    #[test]
    fn names_and_addresses_with_ports_are_valid_hosts() {
        for host in [
            "localhost",
            "example.com:8080",
            "example.com:",
            "127.0.0.1:1",
            "[::1]",
            "[2001:db8::1]:443",
            "[v1.a:b]",
            "a_b~c",
            "ex%41mple",
        ] {
            assert!(is_host_and_port(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn invalid_host_is_refused() {
        for host in [
            "",
            ":80",
            "user@example.com",
            "example.com:80:80",
            "example.com:+80",
            "example.com:65536",
            "example.com:http",
            "a b",
            "a,b/c",
            "a/b",
            "a?b",
            "[::1",
            "[]",
            "[::1]x",
            "[fe80::1%25eth0]",
            "[v.a]",
            "[v1.]",
            "ex%4",
            "ex%zz",
            "b\u{fc}cher.example",
        ] {
            assert!(!is_host_and_port(host.as_bytes()), "{host}");
        }
    }
}
