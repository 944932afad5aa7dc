//! `Accept` and `Accept-Encoding` (RFC 9110 sections 12.5.1 and 12.5.3).

use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderMap, HeaderName};

/// Maximum length of a header's lines together, in bytes. No client needs more; longer headers are ignored.
const MAX_HEADER_BYTES: usize = 1024;

/// Returns whether the client accepts gzip and does not prefer the uncompressed bytes.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for member in members(headers, &ACCEPT_ENCODING) {
        let (name, parameters) = member.split_once(';').unwrap_or((member, ""));
        let is = |coding: &str| name.trim().eq_ignore_ascii_case(coding);
        let slot = match () {
            () if is("gzip") || is("x-gzip") => &mut gzip,
            () if is("*") => &mut any,
            () if is("identity") => &mut identity,
            () => continue,
        };
        *slot = Some(weight(parameters));
    }
    gzip.or(any).is_some_and(|weight| weight >= identity.unwrap_or(0.0).max(0.001))
}

/// Returns whether `Accept` names HTML, as that of browsers does. A range such as `*/*` does not count.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    members(headers, &ACCEPT).any(|member| {
        let mut pieces = member.split(';').map(str::trim);
        let is_html = pieces.next().is_some_and(|name| name.eq_ignore_ascii_case("text/html"));
        is_html
            && pieces.find(|piece| matches!(piece.get(..2), Some("q=" | "Q="))).is_none_or(|piece| weight(piece) > 0.0)
    })
}

/// Returns the members of a list header, from all of its lines.
fn members<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let fields = headers.get_all(name);
    let bytes: usize = fields.iter().map(http::HeaderValue::len).sum();
    let texts = fields.into_iter().filter(move |_| bytes <= MAX_HEADER_BYTES).filter_map(|field| field.to_str().ok());
    texts.flat_map(|text| text.split(','))
}

/// Returns the weight in a member's parameters: 1 without parameters, 0 if they are anything but a valid weight.
fn weight(parameters: &str) -> f32 {
    let parameters = parameters.trim();
    if parameters.is_empty() {
        return 1.0;
    }
    let Some(("q" | "Q", value)) = parameters.split_once('=') else { return 0.0 };
    // One digit, then a point and up to three digits.
    let is_allowed = |(at, byte): (usize, u8)| if at == 1 { byte == b'.' } else { byte.is_ascii_digit() };
    let is_weight = value.len() <= 5 && value.bytes().enumerate().all(is_allowed);
    value.parse().ok().filter(|weight| is_weight && *weight <= 1.0).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn quality_weights_decide_on_gzip() {
        for (field, expected) in [
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
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(field))]);
            assert_eq!(accepts_gzip(&headers), expected, "{field:?}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn html_is_wanted_only_if_named() {
        let wants = |field| wants_html(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(field))]));
        for field in [
            "text/html",
            "TEXT/html;level=1, */*",
            "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
            "a/b, text/html ; q=0.1",
            // Only the parameter `q` is a weight.
            "text/html;quality=0",
            "text/html;level=1;Q=0.1",
        ] {
            assert!(wants(field), "{field}");
        }
        for field in [
            "*/*",
            "text/*",
            "",
            "application/json",
            "text/html;q=0",
            "text/html;level=1; q=0",
            "text/html;q=x",
            "text/html5",
            "x text/html",
        ] {
            assert!(!wants(field), "{field}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }

    #[test]
    fn repeated_fields_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("deflate"));
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert!(accepts_gzip(&headers));
    }

    #[test]
    fn weights_are_parsed_to_thousandths() {
        for (value, expected) in [
            ("0", 0.0),
            ("0.", 0.0),
            ("0.7", 0.7),
            ("0.05", 0.05),
            ("0.007", 0.007),
            ("0.123", 0.123),
            ("1.00", 1.0),
            ("1", 1.0),
            ("00.5", 0.0),
            (".5", 0.0),
            ("+0.5", 0.0),
            ("0.1234", 0.0),
            ("inf", 0.0),
        ] {
            assert_eq!(weight(&format!("q={value}")), expected, "{value}");
        }
    }

    #[test]
    fn overlong_accept_encoding_is_ignored() {
        let fields = |fields: &[String]| {
            let fields = fields.iter().map(|field| (ACCEPT_ENCODING, HeaderValue::try_from(field).unwrap()));
            accepts_gzip(&fields.collect())
        };
        let field = |bytes: usize| format!("gzip,{}", "a".repeat(bytes - 5));
        assert!(fields(&[field(MAX_HEADER_BYTES)]));
        assert!(!fields(&[field(MAX_HEADER_BYTES + 1)]));
        assert!(fields(&[field(MAX_HEADER_BYTES / 2), field(MAX_HEADER_BYTES / 2)]));
        assert!(!fields(&[field(MAX_HEADER_BYTES / 2), field(MAX_HEADER_BYTES / 2), "gzip".to_owned()]));
    }
}
