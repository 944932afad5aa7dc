//! What clients and proxies write into `Forwarded`, `X-Forwarded-For` and `X-Forwarded-Proto` (RFC 7239). Each line of an
//! input is a line of a field: `f`, `x` or `p`, and its value.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};

use http::HeaderValue;

use super::server::Server;

const FORWARDED: &str = "forwarded";
const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";
/// What the trusted proxy tells, and its own address.
const CLIENT: &str = "192.0.2.66";
const PROXY: &str = "127.0.0.1";
/// Of a longer field nothing is read.
const MOST_BYTES: usize = 2048;

type Fields = Vec<(&'static str, HeaderValue)>;

thread_local! {
    static SERVER: RefCell<Server> = RefCell::new(Server::start());
}

pub fn check(input: &[u8]) {
    let fields = fields(input);
    if fields.len() > 50 || fields.iter().map(|(_, value)| value.len()).sum::<usize>() > 16 << 10 {
        return;
    }
    let (alone, _) = ask(&fields);
    // Without the other field it is what the last address says that is no proxy's.
    if fields.iter().all(|(name, _)| *name != FORWARDED) {
        assert_eq!(alone, plain(&fields).unwrap_or(address(PROXY)), "{fields:?}");
    }
    for (field, element) in [(FORWARDED, "for=192.0.2.66;proto=http"), (FOR, CLIENT)] {
        check_beside(&fields, field, element);
    }
}

/// Whatever a client has written: where the proxy adds to it, the client is whom the proxy names, or not known.
fn check_beside(fields: &Fields, field: &'static str, element: &str) {
    let mut on_a_line = fields.clone();
    on_a_line.push((field, value(element)));
    let mut to_the_line = fields.clone();
    match to_the_line.iter_mut().rfind(|(name, _)| *name == field) {
        Some((_, line)) => {
            let added = [line.as_bytes(), b", ", element.as_bytes()].concat();
            *line = HeaderValue::from_bytes(added.trim_ascii()).unwrap();
        }
        None => to_the_line.push((field, value(element))),
    }
    for mut added in [on_a_line, to_the_line] {
        // A proxy that tells of the scheme here writes it last as well.
        if field == FOR {
            added.push((PROTO, value("http")));
        }
        let (found, https) = ask(&added);
        assert!(found == address(CLIENT) || found == address(PROXY), "{found} {added:?}");
        assert!(!https, "{added:?}");
    }
    // A line of the proxy's own is read, whatever stands on the others of this field.
    let mut alone: Fields = fields.iter().filter(|(name, _)| *name == field).cloned().collect();
    alone.push((field, value(element)));
    assert_eq!(ask(&alone), (address(CLIENT), false), "{alone:?}");
}

/// The last address of `X-Forwarded-For` that is no proxy's, or the first of all where all are.
fn plain(fields: &Fields) -> Option<IpAddr> {
    let lines: Vec<_> = fields.iter().filter(|(name, _)| *name == FOR).map(|(_, value)| value.as_bytes()).collect();
    let (mut room, mut last) = (MOST_BYTES, None);
    for line in lines.into_iter().rev() {
        room = room.checked_sub(line.len())?;
        for element in line.split(|byte| *byte == b',').rev() {
            let text = str::from_utf8(element.trim_ascii()).ok()?;
            let is_hidden = text.starts_with('_') || text.split(':').next()?.eq_ignore_ascii_case("unknown");
            let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
            let found = match (bare.parse::<IpAddr>(), text.parse::<SocketAddr>()) {
                (Ok(address), _) => Some(address.to_canonical()),
                (_, Ok(socket)) => Some(socket.ip().to_canonical()),
                _ if is_hidden => None,
                _ => return None,
            };
            last = found;
            let is_proxy = found.is_some_and(|address| match address {
                IpAddr::V4(address) => matches!(address.octets()[0], 10 | 127),
                IpAddr::V6(address) => address.segments()[..3] == [0x2001, 0xdb8, 1],
            });
            if !is_proxy {
                return last;
            }
        }
    }
    last
}

fn fields(input: &[u8]) -> Fields {
    let lines = input.split(|byte| *byte == b'\n').filter_map(|line| {
        let (first, rest) = line.split_first()?;
        let name = match first {
            b'f' => FORWARDED,
            b'x' => FOR,
            b'p' => PROTO,
            _ => return None,
        };
        Some((name, HeaderValue::from_bytes(rest.trim_ascii()).ok()?))
    });
    lines.collect()
}

fn ask(fields: &Fields) -> (IpAddr, bool) {
    SERVER.with_borrow_mut(|server| server.ask(fields))
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::try_from(text).unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}
