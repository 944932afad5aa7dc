//! `Accept` and `Accept-Encoding` (RFC 9110 sections 12.5.1 and 12.5.3).

use std::iter;

use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderMap, HeaderValue};

use crate::response::coding::Coding;

/// How many bytes of the field are read. No client has more to say; one that does is answered as if it said nothing.
const MOST_BYTES: usize = 1024;

/// A weight in thousandths.
type Weight = u16;

/// The codings that the caller takes and does not like less than the bytes as they are: the best liked first, of equally
/// liked ones the one that makes answers smallest.
pub(crate) fn accepted_codings(headers: &HeaderMap) -> impl Iterator<Item = Coding> {
    let mut given = [None; Coding::ALL.len()];
    let (mut any, mut identity) = (None, None);
    let fields = headers.get_all(ACCEPT_ENCODING);
    let bytes: usize = fields.iter().map(HeaderValue::len).sum();
    for field in fields.iter().filter(|_| bytes <= MOST_BYTES) {
        let Ok(field) = field.to_str() else { continue };
        for member in field.split(',') {
            let (name, parameters) = member.split_once(';').unwrap_or((member, ""));
            let place = match name.trim() {
                "*" => &mut any,
                name if name.eq_ignore_ascii_case("identity") => &mut identity,
                name => match Coding::named(name) {
                    Some(coding) => &mut given[coding as usize],
                    None => continue,
                },
            };
            *place = Some(weight(parameters));
        }
    }
    let least = identity.unwrap_or(0).max(1);
    let mut weights = given.map(|weight| weight.or(any).unwrap_or(0));
    iter::from_fn(move || {
        let best = *weights.iter().max().filter(|best| **best >= least)?;
        let place = weights.iter().position(|weight| *weight == best)?;
        weights[place] = 0;
        Some(Coding::ALL[place])
    })
}

/// Whether the caller names HTML among what it takes, as browsers do. A range such as `*/*` names nothing.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    let fields = headers.get_all(ACCEPT);
    let bytes: usize = fields.iter().map(HeaderValue::len).sum();
    let texts = fields.iter().filter(|_| bytes <= MOST_BYTES).filter_map(|field| field.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|member| {
        let mut pieces = member.split(';').map(str::trim);
        let is_html = pieces.next().is_some_and(|name| name.eq_ignore_ascii_case("text/html"));
        is_html
            && pieces.find(|piece| matches!(piece.get(..2), Some("q=" | "Q="))).is_none_or(|piece| weight(piece) > 0)
    })
}

/// The weight in a member's parameters: 1 where there is none, 0 where it is malformed.
fn weight(parameters: &str) -> Weight {
    let parameters = parameters.trim();
    if parameters.is_empty() {
        return 1_000;
    }
    let Some(("q" | "Q", value)) = parameters.split_once('=') else { return 0 };
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    match whole {
        "0" => {
            fraction.bytes().chain(*b"000").take(3).fold(0, |weight, digit| weight * 10 + Weight::from(digit - b'0'))
        }
        "1" if fraction.bytes().all(|b| b == b'0') => 1_000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn accepted(field: &'static str) -> Vec<Coding> {
        accepted_codings(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(field))])).collect()
    }

    #[test]
    fn weights_decide() {
        for (field, wanted) in [
            ("gzip", true),
            ("GZIP", true),
            ("x-gzip", true),
            ("gzip, deflate, br, zstd", true),
            ("br;q=1.0, gzip;q=0.001", true),
            ("*", true),
            ("*;q=0.5, br", true),
            ("gzip;q=0.5, identity;q=0.5", true),
            (" deflate ,\tgzip ; q=0.5 ", true),
            ("", false),
            ("br", false),
            ("identity", false),
            ("gzip;q=0", false),
            ("gzip;q=0.000", false),
            ("*, gzip;q=0", false),
            ("*;q=0", false),
            ("gzip;q=0.5, identity", false),
            ("gzip;q=2", false),
            ("gzip;q=1.001", false),
            ("gzip;q=0.0001", false),
            ("gzip;q=0.1234", false),
            ("gzip;q=x", false),
            ("gzip;level=9", false),
            ("gzipped", false),
        ] {
            assert_eq!(accepted(field).contains(&Coding::Gzip), wanted, "{field:?}");
        }
        assert_eq!(accepted_codings(&HeaderMap::new()).next(), None);
    }

    #[test]
    fn html_is_wanted_where_it_is_named() {
        let wants = |field| wants_html(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(field))]));
        for field in [
            "text/html",
            "TEXT/html;level=1, */*",
            "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
            "a/b, text/html ; q=0.1",
        ] {
            assert!(wants(field), "{field}");
        }
        for field in
            ["*/*", "text/*", "", "application/json", "text/html;q=0", "text/html;q=x", "text/html5", "x text/html"]
        {
            assert!(!wants(field), "{field}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }

    #[test]
    fn fields_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("deflate"));
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(accepted_codings(&headers).collect::<Vec<_>>(), [Coding::Gzip]);
    }

    #[test]
    fn thousandths_are_read_as_such() {
        for (value, wanted) in [
            ("0", 0),
            ("0.", 0),
            ("0.7", 700),
            ("0.05", 50),
            ("0.007", 7),
            ("0.123", 123),
            ("1.00", 1_000),
            ("1", 1_000),
        ] {
            assert_eq!(weight(&format!("q={value}")), wanted, "{value}");
        }
    }

    #[test]
    fn a_field_beyond_the_bound_is_as_good_as_none() {
        let fields = |fields: &[String]| {
            let fields = fields.iter().map(|field| (ACCEPT_ENCODING, HeaderValue::try_from(field).unwrap()));
            accepted_codings(&fields.collect()).count()
        };
        let field = |bytes: usize| format!("gzip,{}", "a".repeat(bytes - 5));
        assert_eq!(fields(&[field(MOST_BYTES)]), 1);
        assert_eq!(fields(&[field(MOST_BYTES + 1)]), 0);
        assert_eq!(fields(&[field(MOST_BYTES / 2), field(MOST_BYTES / 2)]), 1);
        assert_eq!(fields(&[field(MOST_BYTES / 2), field(MOST_BYTES / 2), "gzip".to_owned()]), 0);
    }

    #[test]
    fn a_star_stands_for_all_that_are_not_named() {
        assert_eq!(accepted("*"), Coding::ALL);
        assert_eq!(accepted("*, gzip;q=0"), Coding::ALL[..Coding::ALL.len() - 1]);
    }

    #[cfg(all(feature = "brotli", feature = "zstd"))]
    #[test]
    fn the_best_liked_comes_first_and_then_the_smallest() {
        use Coding::{Brotli, Gzip, Zstd};
        for (field, wanted) in [
            ("gzip, deflate, br, zstd", &[Brotli, Zstd, Gzip][..]),
            ("gzip, zstd", &[Zstd, Gzip]),
            ("br;q=0.5, gzip;q=0.8, zstd;q=0.5", &[Gzip, Brotli, Zstd]),
            ("br;q=0, zstd;q=0.001", &[Zstd]),
            ("zstd;q=0.4, br;q=0.6, identity;q=0.5", &[Brotli]),
            ("*;q=0.1, gzip", &[Gzip, Brotli, Zstd]),
        ] {
            assert_eq!(accepted(field), wanted, "{field:?}");
        }
    }
}
