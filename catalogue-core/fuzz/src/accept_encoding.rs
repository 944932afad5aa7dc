//! `Accept-Encoding` (RFC 9110 section 12.5.3), a line of it on each line of the input.

use std::io::Read as _;
use std::sync::LazyLock;

use bytes::Bytes;
use catalogue_core::Catalogue;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderValue, Response};

use super::ask::{ask, get, header, header_values};
use super::echo::Echo;

/// A coding, and a document in it.
type Form = (Option<&'static str>, Bytes);

/// A catalogue, and a document of it in each coding that there is, the smallest first.
static WORLD: LazyLock<(Catalogue, Vec<Form>)> = LazyLock::new(|| {
    let catalogue = Echo::default().catalogue().build().unwrap();
    let plain = answer(&catalogue, &[]).body().clone();
    let mut forms = Vec::new();
    for coding in ["br", "zstd", "gzip"] {
        let answer = answer(&catalogue, &[HeaderValue::from_static(coding)]);
        if header(answer.headers(), CONTENT_ENCODING) == Some(coding) {
            assert_eq!(decoded(&answer), plain, "{coding}");
            forms.push((Some(coding), answer.into_body()));
        }
    }
    forms.push((None, plain));
    (catalogue, forms)
});

/// More is not read.
const MOST_BYTES: usize = 1024;

pub fn check(input: &[u8]) {
    let (catalogue, forms) = &*WORLD;
    let codings: Vec<_> = forms.iter().filter_map(|(coding, _)| *coding).collect();
    let values = header_values(input);
    let response = answer(catalogue, &values);
    let used = header(response.headers(), CONTENT_ENCODING);
    assert!(forms.iter().any(|(coding, body)| *coding == used && body == response.body()), "{values:?} {used:?}");
    let length: usize = values.iter().map(HeaderValue::len).sum();
    let members = members(&values);
    // It may be any that some member takes, and must be the best where nothing is malformed or comes twice.
    if let Some(used) = used {
        assert!(codings.contains(&used) && length <= MOST_BYTES);
        let is_taken = |(name, weight): &(String, Option<u16>)| {
            (named(name) == Some(used) || name == "*") && weight.is_some_and(|weight| weight > 0)
        };
        assert!(members.iter().any(is_taken), "{used} {values:?}");
    }
    let is_plain = members.iter().all(|(name, weight)| {
        let same = members.iter().filter(|(other, _)| alias(other) == alias(name)).count();
        weight.is_some() && same == 1 && !name.is_empty()
    });
    if is_plain && length <= MOST_BYTES {
        assert_eq!(used, best(&members, &codings), "{values:?}");
    }
}

fn answer(catalogue: &Catalogue, values: &[HeaderValue]) -> Response<Bytes> {
    ask(catalogue, get("/docs/openapi.json", &ACCEPT_ENCODING, values).unwrap())
}

/// The body without its coding.
pub(super) fn decoded(response: &Response<Bytes>) -> Bytes {
    let (mut plain, body) = (Vec::new(), &**response.body());
    match header(response.headers(), CONTENT_ENCODING) {
        None => return response.body().clone(),
        Some("br") => brotli::BrotliDecompress(&mut &*body, &mut plain).unwrap(),
        Some("zstd") => plain = zstd::bulk::decompress(body, 1 << 24).unwrap(),
        Some("gzip") => drop(flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap()),
        Some(other) => panic!("{other} is no coding that is known here"),
    }
    plain.into()
}

/// Names with their weights in thousandths; a weight of `None` is malformed.
fn members(values: &[HeaderValue]) -> Vec<(String, Option<u16>)> {
    // A line that is no text says nothing.
    let lines = values.iter().filter_map(|value| value.to_str().ok());
    let members = lines.flat_map(|line| line.split(',')).map(|member| {
        let pieces: Vec<_> = member.split(';').map(|piece| piece.trim_matches([' ', '\t'])).collect();
        let weight = match *pieces {
            [_] | [_, ""] => Some(1000),
            [_, parameter] => parameter.strip_prefix(['q', 'Q']).and_then(|it| it.strip_prefix('=')).and_then(weight),
            _ => None,
        };
        (pieces[0].to_ascii_lowercase(), weight)
    });
    members.filter(|(name, weight)| !(name.is_empty() && *weight == Some(1000))).collect()
}

pub(super) fn weight(text: &str) -> Option<u16> {
    let is_weight = text.len() <= 5
        && match text.as_bytes() {
            [b'0'] | [b'1'] => true,
            [b'0', b'.', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
            [b'1', b'.', digits @ ..] => digits.iter().all(|digit| *digit == b'0'),
            _ => false,
        };
    let number: f64 = text.parse().ok().filter(|_| is_weight)?;
    Some((number * 1000.0).round() as u16)
}

/// A name that stands for another (RFC 9110 section 8.4.1.3).
fn alias(name: &str) -> &str {
    if name == "x-gzip" { "gzip" } else { name }
}

fn named(name: &str) -> Option<&'static str> {
    ["br", "zstd", "gzip"].into_iter().find(|coding| *coding == alias(name))
}

/// The coding with the highest weight, unless the bytes as they are are liked better; of several the first.
fn best(members: &[(String, Option<u16>)], codings: &[&'static str]) -> Option<&'static str> {
    let weight = |name: &str| members.iter().find(|(other, _)| alias(other) == name).and_then(|(_, weight)| *weight);
    let weights = codings.iter().map(|coding| weight(coding).or(weight("*")).unwrap_or(0));
    let most = weights.clone().max().filter(|most| *most > 0 && *most >= weight("identity").unwrap_or(0))?;
    codings.iter().zip(weights).find(|(_, weight)| *weight == most).map(|(coding, _)| *coding)
}
