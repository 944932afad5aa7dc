//! The catalogue's responses reach the client unchanged.

use std::convert::identity;

use crate::Frontend;
use crate::cases::case_table;
use crate::seed::{ORIGIN, UNREACHABLE_TOKEN};
use crate::test_request::TestRequest;

case_table! {
    ($) __responses_cases; responses, frontend, rule, identity;

    /// Every kind of document has its media type and its bytes.
    documents_are_complete: "A large response is complete, with its media type." => [
        (TestRequest::new("GET", "/docs"), 200),
        (TestRequest::new("GET", "/docs/openapi.json"), 200),
        (TestRequest::new("GET", "/docs/openapi.md"), 200),
        (TestRequest::new("GET", "/docs/llms.txt"), 200),
        (TestRequest::new("GET", "/docs/openapi-3.0.json"), 200),
    ];

    /// Only the catalogue compresses.
    compressed_responses_are_preserved: "A response has the coding that the catalogue chose." => [
        (frontend.get("/api/v1/courses").header("accept-encoding", "gzip"), 200),
        (frontend.get("/docs").header("accept-encoding", "gzip, br"), 200),
        (frontend.get("/docs").header("accept-encoding", "br"), 200),
        (frontend.get("/docs").header("accept-encoding", "gzip;q=0"), 200),
    ];

    failures_use_the_envelope: "A failure has the catalogue's envelope." => [
        (TestRequest::new("GET", "/api/v1/courses/one").bearer(UNREACHABLE_TOKEN), 500),
    ];

    /// Repeated headers are all sent: the list has two `Vary` headers if the request has an `Origin`.
    repeated_headers_are_sent_in_full: "Each line of a repeated header arrives at the client." => {
        let request = frontend.get("/api/v1/courses").header("origin", ORIGIN);
        let vary = frontend.core(&request).await.headers.remove("vary").unwrap_or_default();
        assert!(vary.len() > 1, "the core repeats a header in this response");
        frontend.assert_matches_core(rule, 200, request).await;
    };

    /// The header with the link to the next page is preserved.
    link_header_is_preserved: "The link to the next page is unchanged." => {
        let request = frontend.get("/api/v1/courses?limit=1");
        assert!(frontend.core(&request).await.headers.contains_key("link"), "the list has a further page");
        frontend.assert_matches_core(rule, 200, request).await;
    };
}
