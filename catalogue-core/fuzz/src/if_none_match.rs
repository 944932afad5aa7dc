//! `If-None-Match` (RFC 9110 section 13.1.2), a line of it on each line of the input. `TAG` stands for the opaque tag of the
//! answer.

use std::sync::LazyLock;

use bytes::Bytes;
use catalogue_core::Catalogue;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Response};

use super::ask::{ask_as, get, header, header_values};
use super::echo::{Echo, caller};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Echo::default().catalogue().build().unwrap());

/// More is not read, but a star.
const MOST_BYTES: usize = 4 * 1024;

pub fn check(input: &[u8]) {
    for target in ["/docs/llms.txt", "/api/v1/me", "/api/v1/courses/bread"] {
        check_at(target, input);
    }
}

fn check_at(target: &str, input: &[u8]) {
    let whole = answer(target, &[]);
    let tag = header(whole.headers(), ETAG).expect("what is found has a tag");
    let opaque = tag.strip_prefix("W/\"").and_then(|tag| tag.strip_suffix('"')).expect("a weak tag");
    let values = header_values(&replaced(input, b"TAG", opaque.as_bytes()));
    let response = answer(target, &values);
    assert_eq!(header(response.headers(), ETAG), Some(tag));
    let is_known = response.status() == 304;
    assert!(is_known || (response.status() == 200 && response.body() == whole.body()), "{values:?}");

    let is_star = values.iter().any(|value| value.as_bytes() == b"*");
    let length: usize = values.iter().map(HeaderValue::len).sum();
    let quoted = format!("\"{opaque}\"");
    let names_it = |value: &HeaderValue| value.as_bytes().windows(quoted.len()).any(|it| it == quoted.as_bytes());
    assert!(!is_known || is_star || values.iter().any(names_it), "{values:?}");
    let lists: Option<Vec<_>> = values.iter().map(|value| list(value.as_bytes())).collect();
    if let Some(lists) = lists.filter(|_| length <= MOST_BYTES) {
        assert_eq!(is_known, lists.concat().contains(&opaque.as_bytes()), "{values:?}");
    } else if is_star {
        assert!(is_known);
    }
}

fn answer(target: &str, values: &[HeaderValue]) -> Response<Bytes> {
    ask_as(caller(), &CATALOGUE, get(target, &IF_NONE_MATCH, values).unwrap())
}

/// The opaque tags of a list that is as the RFC has it; elements may be empty.
pub(super) fn list(mut rest: &[u8]) -> Option<Vec<&[u8]>> {
    let mut tags = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if let [b',', more @ ..] = rest {
            rest = more;
            continue;
        }
        if rest.is_empty() {
            return Some(tags);
        }
        let quoted = rest.strip_prefix(b"W/").unwrap_or(rest).strip_prefix(b"\"")?;
        let end = quoted.iter().position(|byte| *byte == b'"')?;
        let (tag, behind) = (&quoted[..end], quoted[end + 1..].trim_ascii_start());
        if !tag.iter().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..)) || !matches!(behind, [] | [b',', ..]) {
            return None;
        }
        tags.push(tag);
        rest = behind;
    }
}

pub(super) fn replaced(text: &[u8], mark: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut replaced, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(by);
        rest = &rest[at + mark.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}
