//! The catalogue's responses reach the client unchanged.

use crate::Frontend;
use crate::seed::ORIGIN;
use crate::test_request::TestRequest;

/// Every kind of document keeps its media type and its bytes.
pub async fn documents_are_complete(frontend: &Frontend) {
    let rule = "A large response is complete, with its media type.";
    for target in ["/docs", "/docs/openapi.json", "/docs/openapi.md", "/docs/llms.txt", "/docs/openapi-3.0.json"] {
        frontend.assert_matches_core(rule, 200, TestRequest::new("GET", target)).await;
    }
}

/// Non-ASCII text in a body is preserved.
pub async fn non_ascii_text_is_preserved(frontend: &Frontend) {
    let target = "/api/v1/courses/using-%F0%9F%A4%97-transformers";
    frontend.assert_matches_core("The bytes of a body are unchanged.", 200, frontend.get(target)).await;
}

/// Compressed responses are preserved: only the catalogue compresses.
pub async fn compressed_responses_are_preserved(frontend: &Frontend) {
    let rule = "A response has the coding that the catalogue chose.";
    for (coding, target) in [("gzip", "/api/v1/courses"), ("gzip, br", "/docs"), ("br", "/docs"), ("gzip;q=0", "/docs")]
    {
        frontend.assert_matches_core(rule, 200, frontend.get(target).header("accept-encoding", coding)).await;
    }
}

/// Repeated headers are all sent: the list has two `Vary` headers if the request has an `Origin`.
pub async fn repeated_headers_are_sent_in_full(frontend: &Frontend) {
    let rule = "Each line of a repeated header arrives at the client.";
    let request = frontend.get("/api/v1/courses").header("origin", ORIGIN);
    let vary = frontend.core(&request).await.headers.remove("vary").unwrap_or_default();
    assert!(vary.len() > 1, "the core repeats a header in this response");
    frontend.assert_matches_core(rule, 200, request).await;
}

/// The header with the link to the next page is preserved.
pub async fn link_header_is_preserved(frontend: &Frontend) {
    let rule = "The link to the next page is unchanged.";
    let request = frontend.get("/api/v1/courses?limit=1");
    assert!(frontend.core(&request).await.headers.contains_key("link"), "the list has a further page");
    frontend.assert_matches_core(rule, 200, request).await;
}

/// An unreachable storage is reported in the failure envelope.
pub async fn failures_use_the_envelope(frontend: &Frontend) {
    let request = TestRequest::new("GET", "/api/v1/courses/one").bearer(&frontend.seed().unreachable_key);
    frontend.assert_matches_core("A failure has the catalogue's envelope.", 500, request).await;
}
