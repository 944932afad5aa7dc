//! Parsing of headers in one or more lines.

use super::*;

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

fn client_of(lines: &[&str]) -> Option<String> {
    let proxies = Networks::parse(&["10.0.0.0/8", "2001:db8:1::/48"]).unwrap();
    let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
    client_address(&headers(&lines), &proxies).map(|address| address.to_string())
}

#[test]
fn client_is_last_address_before_proxies() {
    for (lines, address) in [
        (&["192.0.2.1"][..], "192.0.2.1"),
        (&["192.0.2.9, 192.0.2.1"], "192.0.2.1"),
        (&["192.0.2.9, 192.0.2.1, 10.1.2.3,10.9.9.9"], "192.0.2.1"),
        (&["192.0.2.9", "192.0.2.1", "10.1.2.3"], "192.0.2.1"),
        (&["nonsense, 192.0.2.1"], "192.0.2.1"),
        (&["\"", "192.0.2.1"], "192.0.2.1"),
        (&["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        (&["192.0.2.1:4711"], "192.0.2.1"),
        (&["[2001:db8::1]:4711"], "2001:db8::1"),
        (&["[2001:db8::1]"], "2001:db8::1"),
        (&["2001:db8::1, 2001:db8:1::2"], "2001:db8::1"),
        (&["::ffff:192.0.2.1"], "192.0.2.1"),
    ] {
        assert_eq!(client_of(lines).as_deref(), Some(address), "{lines:?}");
    }
}

#[test]
fn malformed_address_is_not_a_client() {
    for line in ["", "nonsense", "unknown", "192.0.2.1,", "192.0.2.1, none", "none, 10.0.0.1", "192.0.2.256"] {
        assert_eq!(client_of(&[line]), None, "{line}");
    }
    for line in ["[2001:db8::1", "for=192.0.2.1", "\u{e9}"] {
        assert_eq!(client_of(&["192.0.2.9", line]), None, "{line}");
    }
    assert_eq!(client_of(&[]), None);
}

#[test]
fn scheme_is_https_only_if_all_values_are_https() {
    for (lines, expected) in [
        (&[][..], false),
        (&[""], false),
        (&["https"], true),
        (&["HTTPS, https"], true),
        (&["https, http"], false),
        (&["http", "https"], false),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-proto", *line)).collect();
        assert_eq!(is_https(&headers(&lines)), expected, "{lines:?}");
    }
}

#[test]
fn other_headers_are_ignored() {
    let unknown = headers(&[("forwarded", "for=192.0.2.1;proto=https"), ("x-real-ip", "192.0.2.1")]);
    assert!(!is_reported(&unknown) && !is_https(&unknown));
    assert_eq!(client_address(&unknown, &Networks::default()), None);
    for name in ["x-forwarded-for", "x-forwarded-proto"] {
        assert!(is_reported(&headers(&[(name, "x")])));
    }
}
