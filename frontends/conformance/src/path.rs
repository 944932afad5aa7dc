//! Paths reach the catalogue unchanged, including escapes, slashes and dots.

use crate::Frontend;
use crate::test_request::TestRequest;

/// Asserts that GETs of two paths match the core, which returns the given statuses.
async fn assert_both_match(frontend: &Frontend, rule: &str, one: (&str, u16), other: (&str, u16)) {
    for (path, status) in [one, other] {
        frontend.assert_matches_core(rule, status, frontend.get(path)).await;
    }
}

/// Operations and public documents are found below the two mounts.
pub async fn operations_and_documents_are_found(frontend: &Frontend) {
    let rule = "The catalogue responds below both of its mounts.";
    assert_both_match(frontend, rule, ("/api/v1/courses/one", 200), ("/docs/llms.txt", 200)).await;
}

/// A mount itself, with and without a slash, belongs to the catalogue like the paths below it.
pub async fn mount_paths_are_routed(frontend: &Frontend) {
    let rule = "A request for a mount itself reaches the catalogue.";
    assert_both_match(frontend, rule, ("/docs", 200), ("/docs/", 200)).await;
    assert_both_match(frontend, rule, ("/api/v1", 404), ("/api/v1/", 404)).await;
    frontend.assert_matches_core(rule, 401, TestRequest::new("GET", "/api/v1")).await;
}

/// Paths outside of both mounts get the failure envelope.
pub async fn paths_outside_mounts_return_404(frontend: &Frontend) {
    let rule = "The catalogue responds outside of its mounts.";
    assert_both_match(frontend, rule, ("/", 404), ("/elsewhere?q=1", 404)).await;
    assert_both_match(frontend, rule, ("/api", 404), ("/api/v10/me", 404)).await;
    assert_both_match(frontend, rule, ("/me", 404), ("/courses/one", 404)).await;
}

/// Escaped non-ASCII slugs are found.
pub async fn escaped_text_is_preserved(frontend: &Frontend) {
    let rule = "Escapes of a path are preserved.";
    let emoji = "/api/v1/courses/using-%F0%9F%A4%97-transformers";
    assert_both_match(frontend, rule, (emoji, 200), ("/api/v1/courses/%c3%bcber", 200)).await;
}

/// Escapes are decoded only once: a slug may look like an escape itself.
pub async fn escapes_are_decoded_once(frontend: &Frontend) {
    let rule = "Only the catalogue decodes a path, and only once.";
    assert_both_match(frontend, rule, ("/api/v1/courses/a%20b", 200), ("/api/v1/courses/a%2520b", 200)).await;
}

/// An escaped slash is not a separator.
pub async fn escaped_slash_is_not_a_separator(frontend: &Frontend) {
    let rule = "An escaped slash does not separate segments.";
    assert_both_match(frontend, rule, ("/api/v1%2Fme", 404), ("/api/v1/courses%2fone", 404)).await;
}

/// A letter and its escape differ outside of slugs.
pub async fn escapes_are_not_normalized(frontend: &Frontend) {
    let rule = "A path with other escapes is another path.";
    assert_both_match(frontend, rule, ("/api/v1/%6De", 404), ("/%61pi/v1/me", 404)).await;
}

/// Invalid escapes are refused only by the catalogue.
pub async fn invalid_escapes_are_preserved(frontend: &Frontend) {
    let rule = "Only the catalogue refuses an invalid escape.";
    assert_both_match(frontend, rule, ("/api/v1/courses/%zz", 404), ("/api/v1/courses/%F0%9F", 404)).await;
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1/courses/100%")).await;
}

/// Unescaped non-ASCII text in a path is preserved.
pub async fn unescaped_text_is_preserved(frontend: &Frontend) {
    frontend
        .assert_matches_core("Unescaped non-ASCII text is preserved.", 200, frontend.get("/api/v1/courses/\u{fc}ber"))
        .await;
}

/// Plus, semicolon, equals sign and quote have no meaning in a path.
pub async fn reserved_characters_are_preserved(frontend: &Frontend) {
    let rule = "Reserved characters in a path are preserved.";
    assert_both_match(frontend, rule, ("/api/v1/courses/a+b", 200), ("/api/v1/courses/o'neill;v=1", 200)).await;
}

/// A trailing slash makes another path, and causes no redirect.
pub async fn trailing_slash_is_preserved(frontend: &Frontend) {
    let rule = "A path with a trailing slash is another path.";
    assert_both_match(frontend, rule, ("/api/v1/me/", 404), ("/api/v1/courses/one/", 404)).await;
}

/// A path with two slashes in a row is another path, and is not merged.
pub async fn double_slashes_are_preserved(frontend: &Frontend) {
    let rule = "A path with two slashes in a row is another path.";
    assert_both_match(frontend, rule, ("//api/v1/me", 404), ("/api//v1/me", 404)).await;
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1/courses//one")).await;
}

/// A second slash directly after the mount is preserved, even if a router has stripped the mount's prefix.
pub async fn double_slash_after_mount_is_preserved(frontend: &Frontend) {
    let rule = "The path after a mount is preserved, even with a second slash.";
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1//me")).await;
}

/// Dot segments are not resolved.
pub async fn dot_segments_are_preserved(frontend: &Frontend) {
    let rule = "Dot segments are not resolved.";
    assert_both_match(frontend, rule, ("/api/v1/courses/../me", 404), ("/api/v1/./me", 404)).await;
}

/// Paths are compared by bytes.
pub async fn path_case_is_preserved(frontend: &Frontend) {
    let rule = "A path in upper case is another path.";
    assert_both_match(frontend, rule, ("/API/v1/me", 404), ("/api/v1/courses/One", 404)).await;
}

/// A path of 8,000 octets is accepted, as RFC 9110 section 4.1 recommends.
pub async fn long_path_is_preserved(frontend: &Frontend) {
    let path = format!("/api/v1/courses/{}", "a".repeat(8_000 - "/api/v1/courses/".len()));
    frontend.assert_matches_core("A target of 8,000 octets reaches the catalogue.", 404, frontend.get(path)).await;
}
