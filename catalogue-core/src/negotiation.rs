//! `Accept-Encoding` (RFC 9110 section 12.5.3).

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// A weight in thousandths.
type Weight = u16;

/// Whether the caller takes gzip, and does not say to prefer the bytes as they are.
pub(crate) fn wants_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for field in headers.get_all(ACCEPT_ENCODING) {
        let Ok(field) = field.to_str() else { continue };
        for member in field.split(',') {
            let (coding, parameters) = member.split_once(';').unwrap_or((member, ""));
            let coding = coding.trim();
            let place = if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
                &mut gzip
            } else if coding.eq_ignore_ascii_case("identity") {
                &mut identity
            } else if coding == "*" {
                &mut any
            } else {
                continue;
            };
            *place = Some(weight(parameters));
        }
    }
    let gzip = gzip.or(any).unwrap_or(0);
    gzip > 0 && identity.is_none_or(|identity| gzip >= identity)
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
        "0" => format!("{fraction:0<3}").parse().unwrap_or(0),
        "1" if fraction.bytes().all(|b| b == b'0') => 1_000,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

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
            ("gzip;q=x", false),
            ("gzip;level=9", false),
            ("gzipped", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(field))]);
            assert_eq!(wants_gzip(&headers), wanted, "{field:?}");
        }
        assert!(!wants_gzip(&HeaderMap::new()));
    }

    #[test]
    fn fields_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("br"));
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert!(wants_gzip(&headers));
    }
}
