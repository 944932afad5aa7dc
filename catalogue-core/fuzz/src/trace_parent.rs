//! `traceparent` (W3C Trace Context, level 1), a line of it on each line of the input.

use catalogue_core::observe::TraceParent;
use http::{HeaderMap, HeaderName};

use super::ask::header_values;

pub fn check(input: &[u8]) {
    let mut headers = HeaderMap::new();
    for value in header_values(input) {
        headers.append(HeaderName::from_static("traceparent"), value);
    }
    let found =
        TraceParent::of(&headers).map(|it| (it.trace_id().to_owned(), it.parent_id().to_owned(), it.is_sampled()));
    let mut values = headers.values();
    let only = values.next().filter(|_| values.next().is_none());
    assert_eq!(found, only.and_then(|value| read(value.to_str().ok()?)), "{headers:?}");
}

/// Trace, span and whether it is sampled, by the numbers that the digits write.
fn read(text: &str) -> Option<(String, String, bool)> {
    let digits = |text: &str, length: usize| {
        let is_right =
            text.len() == length && !text.contains(|c: char| !c.is_ascii_hexdigit() || c.is_ascii_uppercase());
        u128::from_str_radix(text, 16).ok().filter(|_| is_right)
    };
    let pieces: Vec<_> = text.splitn(5, '-').collect();
    let [version, trace, span, flags, more @ ..] = &*pieces else { return None };
    let version = digits(version, 2).filter(|version| *version != 0xff && (*version > 0 || more.is_empty()))?;
    let (trace_number, span_number, flags) = (digits(trace, 32)?, digits(span, 16)?, digits(flags, 2)?);
    let is_right = trace_number > 0 && span_number > 0 && version < 0xff;
    is_right.then(|| ((*trace).to_owned(), (*span).to_owned(), flags & 1 == 1))
}
