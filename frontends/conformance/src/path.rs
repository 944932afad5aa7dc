//! Paths reach the catalogue unchanged, including escapes, slashes and dots.

use crate::Frontend;
use crate::test_request::TestRequest;

/// Compares GETs of two paths, each with the core's status.
async fn assert_both_match(frontend: &Frontend, rule: &str, one: (&str, u16), other: (&str, u16)) {
    for (path, status) in [one, other] {
        frontend.assert_matches_core(rule, status, frontend.get(path)).await;
    }
}

/// Operations and public documents are found below the two mounts.
pub async fn operations_and_documents_are_found(frontend: &Frontend) {
    let rule = "The catalogue answers below both of its addresses.";
    assert_both_match(frontend, rule, ("/api/v1/courses/one", 200), ("/docs/llms.txt", 200)).await;
}

/// A mount itself, with and without a slash, belongs to the catalogue like the paths below it.
pub async fn mount_paths_are_routed(frontend: &Frontend) {
    let rule = "A request for an address itself reaches the catalogue.";
    assert_both_match(frontend, rule, ("/docs", 200), ("/docs/", 200)).await;
    assert_both_match(frontend, rule, ("/api/v1", 404), ("/api/v1/", 404)).await;
    frontend.assert_matches_core(rule, 401, TestRequest::new("GET", "/api/v1")).await;
}

/// Paths outside of both mounts get the failure envelope.
pub async fn paths_outside_mounts_return_404(frontend: &Frontend) {
    let rule = "What is outside of the addresses is answered by the catalogue.";
    assert_both_match(frontend, rule, ("/", 404), ("/elsewhere?q=1", 404)).await;
    assert_both_match(frontend, rule, ("/api", 404), ("/api/v10/me", 404)).await;
    assert_both_match(frontend, rule, ("/me", 404), ("/courses/one", 404)).await;
}

/// Non-ASCII slugs arrive escaped.
pub async fn escaped_text_is_preserved(frontend: &Frontend) {
    let rule = "Escapes of a path stay what they are.";
    let emoji = "/api/v1/courses/using-%F0%9F%A4%97-transformers";
    assert_both_match(frontend, rule, (emoji, 200), ("/api/v1/courses/%c3%bcber", 200)).await;
}

/// A slug may look like an escape itself.
pub async fn escapes_are_decoded_once(frontend: &Frontend) {
    let rule = "A path is decoded by the catalogue alone, and so only once.";
    assert_both_match(frontend, rule, ("/api/v1/courses/a%20b", 200), ("/api/v1/courses/a%2520b", 200)).await;
}

/// An escaped slash is not a separator.
pub async fn escaped_slash_is_not_a_separator(frontend: &Frontend) {
    let rule = "An escaped slash separates no segments.";
    assert_both_match(frontend, rule, ("/api/v1%2Fme", 404), ("/api/v1/courses%2fone", 404)).await;
}

/// A letter and its escape differ outside of slugs.
pub async fn escapes_are_not_normalized(frontend: &Frontend) {
    let rule = "A path that is written in another way is another path.";
    assert_both_match(frontend, rule, ("/api/v1/%6De", 404), ("/%61pi/v1/me", 404)).await;
}

/// Invalid escapes are refused only by the catalogue.
pub async fn invalid_escapes_are_preserved(frontend: &Frontend) {
    let rule = "A broken escape is for the catalogue to refuse.";
    assert_both_match(frontend, rule, ("/api/v1/courses/%zz", 404), ("/api/v1/courses/%F0%9F", 404)).await;
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1/courses/100%")).await;
}

/// Unescaped non-ASCII text.
pub async fn unescaped_text_is_preserved(frontend: &Frontend) {
    frontend
        .assert_matches_core("Unescaped text beyond ASCII is kept.", 200, frontend.get("/api/v1/courses/\u{fc}ber"))
        .await;
}

/// Plus, semicolon, equals sign and quote have no meaning in a path.
pub async fn reserved_characters_are_preserved(frontend: &Frontend) {
    let rule = "Characters with a meaning elsewhere are kept in a path.";
    assert_both_match(frontend, rule, ("/api/v1/courses/a+b", 200), ("/api/v1/courses/o'neill;v=1", 200)).await;
}

/// A trailing slash makes another path, and causes no redirect.
pub async fn trailing_slash_is_preserved(frontend: &Frontend) {
    let rule = "A path with a slash at its end is another path.";
    assert_both_match(frontend, rule, ("/api/v1/me/", 404), ("/api/v1/courses/one/", 404)).await;
}

/// Doubled slashes make other paths.
pub async fn double_slashes_are_preserved(frontend: &Frontend) {
    let rule = "A path with two slashes in a row is another path.";
    assert_both_match(frontend, rule, ("//api/v1/me", 404), ("/api//v1/me", 404)).await;
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1/courses//one")).await;
}

/// Directly after the mount, whose prefix a router may have stripped.
pub async fn double_slash_after_mount_is_preserved(frontend: &Frontend) {
    let rule = "What follows the address is kept, a second slash too.";
    frontend.assert_matches_core(rule, 404, frontend.get("/api/v1//me")).await;
}

/// Segments of dots are not special.
pub async fn dot_segments_are_preserved(frontend: &Frontend) {
    let rule = "Segments of dots are not resolved.";
    assert_both_match(frontend, rule, ("/api/v1/courses/../me", 404), ("/api/v1/./me", 404)).await;
}

/// Paths are compared by bytes.
pub async fn path_case_is_preserved(frontend: &Frontend) {
    let rule = "A path in capitals is another path.";
    assert_both_match(frontend, rule, ("/API/v1/me", 404), ("/api/v1/courses/One", 404)).await;
}

/// RFC 9110 section 4.1 recommends 8,000 octets at least.
pub async fn long_path_is_preserved(frontend: &Frontend) {
    let path = format!("/api/v1/courses/{}", "a".repeat(8_000 - "/api/v1/courses/".len()));
    frontend.assert_matches_core("A target of 8,000 octets reaches the catalogue.", 404, frontend.get(path)).await;
}
