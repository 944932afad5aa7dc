//! The query of `GET /courses` (decisions R7 to R9), compared with another query parser.

use http::header::HOST;
use serde_json::{Value, json};

use super::call::{call_as, failure, get};
use super::cursor::decode_cursor;
use super::echo::{FIXTURE, caller};

pub(super) fn check(input: &[u8]) {
    let (echo, catalogue) = &*FIXTURE;
    let Ok(query) = str::from_utf8(input) else { return };
    let Some(request) = get(&format!("/api/v1/courses?{query}"), &HOST, &[]) else { return };
    let expected = parse(request.uri().query().unwrap_or_default());
    let response = call_as(caller(), catalogue, request);
    let page = echo.page();
    match expected {
        Ok((limit, cursor)) => {
            assert_eq!(failure(&response).0, 200, "{query:?}");
            let page = page.expect("the storage is called");
            assert_eq!((page.limit.get(), page.after), (limit, cursor.and_then(|cursor| decode_cursor(&cursor))));
        }
        Err(details) => {
            assert_eq!(failure(&response), (400, Some("invalid_request".to_owned()), details), "{query:?}");
            assert_eq!(page, None);
        }
    }
}

/// Returns limit and cursor, or the details of the first error.
fn parse(query: &str) -> Result<(usize, Option<String>), Value> {
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let values =
        |expected: &str| pairs.iter().filter(|(name, _)| name == expected).map(|(_, value)| &**value).collect();
    let invalid = |parameter: &str, reason: &str| json!({ "parameter": parameter, "reason": reason });
    let (limits, cursors): (Vec<&str>, Vec<&str>) = (values("limit"), values("cursor"));
    let limit = match *limits {
        [] => 50,
        [text] if !text.is_empty() && text.trim_start_matches(|c: char| c.is_ascii_digit()).is_empty() => {
            let number = text.trim_start_matches('0');
            match number.parse().unwrap_or(0) {
                limit @ 1..=100 => limit,
                _ => {
                    return Err(
                        json!({ "parameter": "limit", "reason": "out_of_range", "minimum": 1, "maximum": 100 }),
                    );
                }
            }
        }
        [_] => return Err(invalid("limit", "not_an_integer")),
        _ => return Err(invalid("limit", "repeated")),
    };
    match *cursors {
        [] => Ok((limit, None)),
        [cursor] if decode_cursor(cursor).is_some() => Ok((limit, Some(cursor.to_owned()))),
        [_] => Err(invalid("cursor", "invalid")),
        _ => Err(invalid("cursor", "repeated")),
    }
}
