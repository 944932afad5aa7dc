//! Whatever a client writes, it chooses neither its address nor its scheme. `PROPTEST_CASES` says how often that is tried.

use http::HeaderValue;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

const FORWARDED: &str = "forwarded";
const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";

/// What the trusted proxy knows of a request.
#[derive(Clone, Debug)]
struct Told {
    element: String,
    address: Option<IpAddr>,
    https: bool,
}

/// How the proxy adds to a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Adding {
    OnALine,
    ToTheLine,
}

fn proxies() -> Networks {
    Networks::parse(&["10.0.0.0/8", "2001:db8:1::/48"]).unwrap()
}

/// Pieces that mean something to a reader of the fields, and bytes that mean nothing.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let telling = [
        "\"",
        "\"",
        "\\",
        ",",
        ";",
        "=",
        " ",
        "\t",
        "[",
        "]",
        ":",
        "x=\"",
        "x=\"a\"",
        "\\\"",
        "for",
        "for=",
        "proto=https",
        "for=203.0.113.9",
        "for=\"203.0.113.9\"",
        "203.0.113.9",
        "for=192.0.2.66;proto=https",
        "192.0.2.66",
        "10.1.2.3",
        "for=10.1.2.3",
        "for=unknown",
        "for=_a",
        "unknown",
        "https",
        "host=\"a,b;c\"",
    ];
    prop_oneof![
        4 => select(telling.as_slice().to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(prop_oneof![Just(b'\t'), b' '..=b'~', 0x80..=0xff_u8], 0..4),
    ]
}

/// A line of a client's own.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    vec(pieces(), 0..8).prop_map(|pieces| pieces.concat())
}

/// A quoted string that holds whatever the client has sent as its `Host`.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for character in bytes.iter().filter(|byte| byte.is_ascii()).map(|byte| char::from(*byte)) {
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text + "\""
}

/// An element of `Forwarded` in each of its forms.
fn elements() -> impl Strategy<Value = Told> {
    let node = select(vec![
        ("192.0.2.66", Some("192.0.2.66")),
        ("\"192.0.2.66\"", Some("192.0.2.66")),
        ("\"192.0.2.66:4711\"", Some("192.0.2.66")),
        ("\"[2001:db8::66]\"", Some("2001:db8::66")),
        ("\"[2001:DB8::66]:4711\"", Some("2001:db8::66")),
        ("_hidden", None),
        ("\"_hidden:4711\"", None),
        ("unknown", None),
        ("Unknown", None),
    ]);
    let proto = select(vec!["http", "https", "HTTPS", "\"https\"", "\"http\""]);
    let others = (lines(), select(vec!["10.0.0.1", "\"[2001:db8:1::1]:443\"", "_proxy"]));
    let pairs = subsequence(vec![1, 2, 3], 0..=3).prop_map(|others| [vec![0], others].concat()).prop_shuffle();
    (node, proto, others, pairs, any::<bool>()).prop_map(|((node, address), proto, (host, by), pairs, upper)| {
        let host = quoted(&host);
        let text = |pair: &usize| {
            let (name, value) = [("for", node), ("proto", proto), ("host", &host), ("by", by)][*pair];
            let name = if upper { name.to_uppercase() } else { name.to_owned() };
            format!("{name}={value}")
        };
        Told {
            element: pairs.iter().map(text).collect::<Vec<_>>().join(";"),
            address: address.map(|address| address.parse().unwrap()),
            https: pairs.contains(&1) && proto.to_lowercase().contains("https"),
        }
    })
}

/// An element of `X-Forwarded-For`, and of `X-Forwarded-Proto` beside it.
fn plain_elements() -> impl Strategy<Value = Told> {
    let nodes =
        vec!["192.0.2.66", "192.0.2.66:4711", "2001:db8::66", "[2001:db8::66]", "[2001:DB8::66]:4711", "unknown"];
    (select(nodes), any::<bool>()).prop_map(|(node, https)| {
        let address = match node.get(..3) {
            Some("192") => Some("192.0.2.66".parse().unwrap()),
            Some("unk") => None,
            _ => Some("2001:db8::66".parse().unwrap()),
        };
        Told { element: node.to_owned(), address, https }
    })
}

fn adding() -> impl Strategy<Value = Adding> {
    select(vec![Adding::OnALine, Adding::ToTheLine])
}

/// What a client writes into each of the three fields.
fn clients() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    vec((select(vec![FORWARDED, FOR, PROTO]), lines()), 0..4)
}

/// What the server gets where the proxy has added `element` to `field`.
fn added(
    client: &[(&'static str, Vec<u8>)],
    field: &'static str,
    element: &str,
    adding: Adding,
) -> Vec<(&'static str, Vec<u8>)> {
    let mut lines = client.to_vec();
    match lines.iter_mut().rfind(|(name, _)| *name == field).filter(|_| adding == Adding::ToTheLine) {
        Some((_, line)) => line.extend_from_slice(format!(", {element}").as_bytes()),
        None => lines.push((field, element.into())),
    }
    lines
}

fn read(lines: &[(&'static str, Vec<u8>)]) -> Option<Hop> {
    let mut headers = HeaderMap::new();
    for (name, line) in lines {
        headers.append(*name, HeaderValue::from_bytes(line.trim_ascii()).unwrap());
    }
    origin(&headers, &proxies())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn beside_forwarded_a_client_chooses_nothing(client in clients(), told in elements(), adding in adding()) {
        if let Some(hop) = read(&added(&client, FORWARDED, &told.element, adding)) {
            prop_assert_eq!(hop.address, told.address);
            prop_assert!(told.https || !hop.https);
        }
    }

    #[test]
    fn beside_x_forwarded_for_a_client_chooses_nothing(client in clients(), told in plain_elements(), adding in adding()) {
        let scheme = if told.https { "https" } else { "http" };
        let lines = added(&added(&client, FOR, &told.element, adding), PROTO, scheme, adding);
        if let Some(hop) = read(&lines) {
            prop_assert_eq!(hop.address, told.address);
            prop_assert!(told.https || !hop.https);
        }
    }

    /// Also where it passes on what the client says of the scheme.
    #[test]
    fn an_address_alone_is_not_the_clients_choice(client in clients(), told in plain_elements(), adding in adding()) {
        if let Some(hop) = read(&added(&client, FOR, &told.element, adding)) {
            prop_assert_eq!(hop.address, told.address);
        }
    }

    /// So nobody hides behind the proxy's own address where the proxy writes a line of its own.
    #[test]
    fn a_line_of_the_proxys_own_is_always_read(line in lines(), standard in elements(), plain in plain_elements()) {
        for (field, told) in [(FORWARDED, standard), (FOR, Told { https: false, ..plain })] {
            let hop = read(&added(&[(field, line.clone())], field, &told.element, Adding::OnALine));
            prop_assert_eq!(hop, Some(Hop { address: told.address, https: told.https }));
        }
    }
}
