//! What is read out of the fields, line by line.

use super::*;

fn proxies() -> Networks {
    Networks::parse(&["10.0.0.0/8", "2001:db8:1::/48"]).unwrap()
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

/// A quote that is open, or stands where none may be, could end in the element of the proxy.
#[test]
fn a_line_of_the_standard_header_is_read_whole_or_not_at_all() {
    for line in [
        "for=192.0.2.9;\", for=192.0.2.1",
        "for=192.0.2.9;x=\", for=192.0.2.1",
        "for=192.0.2.9;x=\", for=\"[2001:db8::1]:4711\"",
        "for=192.0.2.9;x=\", for=192.0.2.1;host=\"a:443\"",
        "for=192.0.2.9;x=a\"b, for=192.0.2.1;host=\"a\"",
        "for=192.0.2.9;x=\"a\"b, for=192.0.2.1",
        "for=192.0.2.9;x=\"\\\", for=192.0.2.1",
        "for=192.0.2.9;x\"=y, for=192.0.2.1",
        "for=192.0.2.9; =y, for=192.0.2.1",
        "for=192.0.2.9 x, for=192.0.2.1",
        "nonsense, for=192.0.2.1",
        ", for=192.0.2.1",
        "for=192.0.2.1;",
        "for =192.0.2.1",
        "for= 192.0.2.1",
        "for=192.0.2.1:4711",
        "for=[2001:db8::1]",
        "for=192.0.2.1;for=192.0.2.2",
        "for=192.0.2.1;proto=http;Proto=https",
    ] {
        assert_eq!(origin_of(&[("forwarded", line)]), None, "{line}");
    }
}

#[test]
fn a_line_of_the_proxys_own_counts_whatever_stands_before_it() {
    for field in ["forwarded", "x-forwarded-for"] {
        let own = if field == "forwarded" { "for=192.0.2.1" } else { "192.0.2.1" };
        for line in ["for=192.0.2.9;\"", "for=192.0.2.9;x=\"", "\"", "192.0.2.9, \"", &"x".repeat(8 * 1024)] {
            let told = Some(("192.0.2.1".to_owned(), false));
            assert_eq!(origin_of(&[(field, line), (field, own)]), told, "{line}");
        }
    }
}

#[test]
fn what_is_longer_than_any_proxies_write_is_not_read() {
    let line = |member: &str, bytes: usize| vec![member; bytes / member.len()].join(",");
    for (field, member) in
        [("forwarded", "for=10.0.0.1"), ("x-forwarded-for", "10.0.0.1"), ("x-forwarded-proto", "https")]
    {
        assert!(origin_of(&[(field, &line(member, 1536))]).is_some(), "{field}");
        let long = line(member, 3 * 1024);
        let short = line(member, 1024);
        for lines in [vec![(field, &*long)], vec![(field, &*short); 3]] {
            let told = origin_of(&lines);
            assert!(told.is_none_or(|(address, https)| address == "hidden" && !https), "{field}");
        }
    }
}

#[test]
fn two_headers_that_differ_tell_nothing() {
    let both = |standard, common| origin_of(&[("forwarded", standard), ("x-forwarded-for", common)]);
    assert_eq!(both("for=192.0.2.1;proto=https", "192.0.2.1"), Some(("192.0.2.1".to_owned(), true)));
    assert_eq!(both("for=192.0.2.9", "192.0.2.1"), None);
    assert_eq!(both("nonsense", "192.0.2.1"), None);
    assert_eq!(both("for=192.0.2.1", "nonsense"), None);
    // Who knows the own address can repeat it.
    let three =
        [("forwarded", "for=192.0.2.1;proto=https"), ("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "http")];
    assert_eq!(origin_of(&three), Some(("192.0.2.1".to_owned(), false)));
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
