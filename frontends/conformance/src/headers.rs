//! All other headers of a request reach the catalogue with all their values.

use crate::Frontend;
use crate::ask::Ask;
use crate::seed::ORIGIN;

const LIST: &str = "/api/v1/courses";

/// Returns the ETag of the list.
async fn tag(frontend: &Frontend) -> Vec<u8> {
    frontend.core(&frontend.get(LIST)).await.headers["etag"][0].clone()
}

/// A client that has the current response gets a 304, without body and length.
pub async fn a_known_tag_is_not_modified(frontend: &Frontend) {
    let ask = frontend.get(LIST).header("if-none-match", tag(frontend).await);
    frontend.agrees("If-None-Match reaches the catalogue, whose 304 has neither body nor length.", 304, ask).await;
}

/// A list of tags may span several header lines.
pub async fn repeated_headers_are_kept_in_full(frontend: &Frontend) {
    let rule = "Each line of a repeated header reaches the catalogue.";
    let tag = tag(frontend).await;
    let last = frontend.get(LIST).header("if-none-match", r#"W/"other""#).header("if-none-match", &tag);
    frontend.agrees(rule, 304, last).await;
    let first = frontend.get(LIST).header("if-none-match", &tag).header("if-none-match", r#"W/"other""#);
    frontend.agrees(rule, 304, first).await;
}

/// A header without a value.
pub async fn empty_headers_are_no_fault(frontend: &Frontend) {
    let ask = frontend.get(LIST).header("if-none-match", "").header("x-empty", "");
    frontend.agrees("A header without a value is no fault.", 200, ask).await;
}

/// A browser's preflight request.
pub async fn a_preflight_is_answered(frontend: &Frontend) {
    let rule = "A preflight is answered by the catalogue.";
    for target in [LIST, "/docs/openapi.json"] {
        let ask = Ask::new("OPTIONS", target)
            .header("origin", ORIGIN)
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization");
        frontend.agrees(rule, 204, ask).await;
    }
}

/// A script's request, from an allowed and from a disallowed origin.
pub async fn the_origin_is_kept(frontend: &Frontend) {
    let rule = "The origin reaches the catalogue.";
    for origin in [ORIGIN, "https://other.example.com"] {
        frontend.agrees(rule, 200, frontend.get(LIST).header("origin", origin)).await;
        frontend.agrees(rule, 401, Ask::new("GET", LIST).header("origin", origin)).await;
    }
}

/// The client's request id is returned, and is in the details of an internal error.
pub async fn the_request_id_comes_back(frontend: &Frontend) {
    let mut ask = frontend.get("/api/v1/me");
    ask.headers.retain(|(name, _)| *name != "x-request-id");
    let ask = ask.header("x-request-id", "~!mine|42");
    frontend.agrees("The request id that the client gave comes back.", 200, ask).await;
}

/// Proxies and browsers send many headers.
pub async fn many_headers_are_kept(frontend: &Frontend) {
    let mut ask = Ask::new("GET", "/api/v1/me");
    for _ in 0..50 {
        ask = ask.header("x-one-of-many", "value");
    }
    frontend.agrees("Fifty headers are no fault.", 200, ask.bearer(&frontend.seed().key)).await;
}

/// Cookies and the like.
pub async fn a_long_header_is_kept(frontend: &Frontend) {
    let ask = frontend.get(LIST).header("if-none-match", format!(r#""{}""#, "a".repeat(4_000)));
    frontend.agrees("A header of 4,000 octets is no fault.", 200, ask).await;
}

/// Non-ASCII bytes in an unused header.
pub async fn bytes_beyond_ascii_are_no_fault(frontend: &Frontend) {
    let ask = frontend.get("/api/v1/me").header("x-name", b"\xc3\xa9\xff\x80");
    frontend.agrees("Bytes beyond ASCII in any header are no fault.", 200, ask).await;
}
