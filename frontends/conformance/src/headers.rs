//! Headers of a request other than its credentials reach the catalogue, with all their values.

use std::convert::identity;

use crate::Frontend;
use crate::cases::case_table;
use crate::seed::ORIGIN;
use crate::test_request::TestRequest;

const LIST: &str = "/api/v1/courses";

/// Tag of no response.
const OTHER: &str = r#"W/"other""#;

/// Returns the `ETag` of the list.
async fn tag(frontend: &Frontend) -> Vec<u8> {
    frontend.core(&frontend.get(LIST)).await.headers["etag"][0].clone()
}

case_table! {
    ($) __headers_cases; headers, frontend, rule, identity;

    matching_etag_returns_304: "If-None-Match reaches the catalogue, whose 304 has neither body nor length." => [
        (frontend.get(LIST).header("if-none-match", tag(frontend).await), 304),
    ];

    /// A list of tags may span several header lines.
    repeated_headers_are_preserved: "Each line of a repeated header reaches the catalogue." => [
        (frontend.get(LIST).header("if-none-match", OTHER).header("if-none-match", tag(frontend).await), 304),
        (frontend.get(LIST).header("if-none-match", tag(frontend).await).header("if-none-match", OTHER), 304),
    ];

    empty_headers_are_accepted: "A header without a value is accepted." => [
        (frontend.get(LIST).header("if-none-match", "").header("x-empty", ""), 200),
    ];

    /// Cookies and ETags can be long.
    long_header_is_accepted: "A header of 4,000 octets is accepted." => [
        (frontend.get(LIST).header("if-none-match", format!("\"{:a<4000}\"", "")), 200),
    ];

    /// The catalogue does not use the header.
    non_ascii_bytes_are_accepted: "Non-ASCII bytes in any header are accepted." => [
        (frontend.get("/api/v1/me").header("x-name", b"\xc3\xa9\xff\x80"), 200),
    ];

    /// A browser's preflight request gets a 204.
    preflight_returns_204: "The catalogue responds to a preflight." => {
        for target in [LIST, "/docs/openapi.json"] {
            let request = TestRequest::new("OPTIONS", target)
                .header("origin", ORIGIN)
                .header("access-control-request-method", "GET")
                .header("access-control-request-headers", "authorization");
            frontend.assert_matches_core(rule, 204, request).await;
        }
    };

    /// The origin of a script's request is preserved, whether it is allowed or not.
    origin_is_preserved: "The origin reaches the catalogue." => {
        for origin in [ORIGIN, "https://other.example.com"] {
            frontend.assert_matches_core(rule, 200, frontend.get(LIST).header("origin", origin)).await;
            frontend.assert_matches_core(rule, 401, TestRequest::new("GET", LIST).header("origin", origin)).await;
        }
    };

    /// The client's request id is returned unchanged, with all its punctuation.
    request_id_is_returned: "The client's request id is returned." => {
        let mut request = frontend.get("/api/v1/me");
        request.headers.retain(|(name, _)| *name != "x-request-id");
        let request = request.header("x-request-id", "~!mine|42");
        frontend.assert_matches_core(rule, 200, request).await;
    };

    /// Fifty headers are accepted: proxies and browsers send many.
    many_headers_are_accepted: "Fifty headers are accepted." => {
        let mut request = TestRequest::new("GET", "/api/v1/me");
        for _ in 0..50 {
            request = request.header("x-one-of-many", "value");
        }
        frontend.assert_matches_core(rule, 200, request.bearer(&frontend.seed.key)).await;
    };
}
