//! Headers of a request other than its credentials reach the catalogue, with all their values.

use crate::Frontend;
use crate::seed::ORIGIN;
use crate::test_request::TestRequest;

const LIST: &str = "/api/v1/courses";

/// Returns the `ETag` of the list.
async fn tag(frontend: &Frontend) -> Vec<u8> {
    frontend.core(&frontend.get(LIST)).await.headers["etag"][0].clone()
}

/// A client that has the current response gets a 304, without body and length.
pub async fn matching_etag_returns_304(frontend: &Frontend) {
    let request = frontend.get(LIST).header("if-none-match", tag(frontend).await);
    frontend
        .assert_matches_core(
            "If-None-Match reaches the catalogue, whose 304 has neither body nor length.",
            304,
            request,
        )
        .await;
}

/// A list of tags may span several header lines.
pub async fn repeated_headers_are_preserved(frontend: &Frontend) {
    let rule = "Each line of a repeated header reaches the catalogue.";
    let tag = tag(frontend).await;
    let last = frontend.get(LIST).header("if-none-match", r#"W/"other""#).header("if-none-match", &tag);
    frontend.assert_matches_core(rule, 304, last).await;
    let first = frontend.get(LIST).header("if-none-match", &tag).header("if-none-match", r#"W/"other""#);
    frontend.assert_matches_core(rule, 304, first).await;
}

/// Headers without a value are accepted.
pub async fn empty_headers_are_accepted(frontend: &Frontend) {
    let request = frontend.get(LIST).header("if-none-match", "").header("x-empty", "");
    frontend.assert_matches_core("A header without a value is accepted.", 200, request).await;
}

/// A browser's preflight request gets a 204.
pub async fn preflight_returns_204(frontend: &Frontend) {
    let rule = "The catalogue responds to a preflight.";
    for target in [LIST, "/docs/openapi.json"] {
        let request = TestRequest::new("OPTIONS", target)
            .header("origin", ORIGIN)
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization");
        frontend.assert_matches_core(rule, 204, request).await;
    }
}

/// The origin of a script's request is preserved, whether it is allowed or not.
pub async fn origin_is_preserved(frontend: &Frontend) {
    let rule = "The origin reaches the catalogue.";
    for origin in [ORIGIN, "https://other.example.com"] {
        frontend.assert_matches_core(rule, 200, frontend.get(LIST).header("origin", origin)).await;
        frontend.assert_matches_core(rule, 401, TestRequest::new("GET", LIST).header("origin", origin)).await;
    }
}

/// The client's request id is returned unchanged, with all its punctuation.
pub async fn request_id_is_returned(frontend: &Frontend) {
    let mut request = frontend.get("/api/v1/me");
    request.headers.retain(|(name, _)| *name != "x-request-id");
    let request = request.header("x-request-id", "~!mine|42");
    frontend.assert_matches_core("The client's request id is returned.", 200, request).await;
}

/// Fifty headers are accepted: proxies and browsers send many.
pub async fn many_headers_are_accepted(frontend: &Frontend) {
    let mut request = TestRequest::new("GET", "/api/v1/me");
    for _ in 0..50 {
        request = request.header("x-one-of-many", "value");
    }
    frontend.assert_matches_core("Fifty headers are accepted.", 200, request.bearer(&frontend.seed().key)).await;
}

/// A header of 4,000 octets is accepted: cookies and ETags can be long.
pub async fn long_header_is_accepted(frontend: &Frontend) {
    let request = frontend.get(LIST).header("if-none-match", format!(r#""{}""#, "a".repeat(4_000)));
    frontend.assert_matches_core("A header of 4,000 octets is accepted.", 200, request).await;
}

/// Non-ASCII bytes are accepted in a header that the catalogue does not use.
pub async fn non_ascii_bytes_are_accepted(frontend: &Frontend) {
    let request = frontend.get("/api/v1/me").header("x-name", b"\xc3\xa9\xff\x80");
    frontend.assert_matches_core("Non-ASCII bytes in any header are accepted.", 200, request).await;
}
