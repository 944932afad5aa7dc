//! The path of a request (decisions R1, R3, R4 and R12).

use std::sync::LazyLock;

use catalogue_core::{Catalogue, is_slug};
use http::header::HOST;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::call::{call_as, get};
use super::echo::{Echo, caller};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Echo::default().catalogue().serve_root().build().unwrap());

pub(super) fn check(input: &[u8]) {
    let Ok(path) = str::from_utf8(input) else { return };
    check_path(path);
    // The text is also checked as the slug of a course.
    check_path(&format!("/api/v1/courses/{}", utf8_percent_encode(path, NON_ALPHANUMERIC)));
}

fn check_path(path: &str) {
    let Some(request) = get(path, &HOST, &[]) else { return };
    let segment = request.uri().path().strip_prefix("/api/v1/courses/").map(str::to_owned);
    let response = call_as(caller(), &CATALOGUE, request);
    let Some(segment) = segment.filter(|segment| !segment.is_empty() && !segment.contains('/')) else { return };
    let Some(slug) = slug(&segment) else {
        assert_eq!(response.status(), 404, "{path:?}");
        return;
    };
    assert_eq!(response.status(), 200, "{path:?}");
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    assert!(["slug", "title", "language"].iter().all(|name| body["data"][name] == *slug), "{body}");
}

/// Returns the segment decoded once, if a course can have that slug. Rejects invalid escapes, which the decoder ignores.
fn slug(segment: &str) -> Option<String> {
    let mut escapes = segment.split('%').skip(1).map(|rest| rest.as_bytes().get(..2));
    let is_escaped = escapes.all(|digits| digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    let slug = percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    (is_escaped && is_slug(&slug)).then_some(slug)
}
