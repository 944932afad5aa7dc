//! Paths reach the catalogue unchanged, including escapes, slashes and dots.

use crate::Frontend;
use crate::cases::case_table;
use crate::test_request::TestRequest;

case_table! {
    ($) __path_cases; path, frontend, rule, |path| frontend.get(path);

    operations_and_documents_are_found: "The catalogue responds below both of its mounts." => [
        ("/api/v1/courses/one", 200), ("/docs/llms.txt", 200),
    ];

    paths_outside_mounts_return_404: "The catalogue responds outside of its mounts." => [
        ("/", 404), ("/elsewhere?q=1", 404), ("/api", 404), ("/api/v10/me", 404), ("/me", 404), ("/courses/one", 404),
    ];

    /// Their responses contain non-ASCII text.
    escaped_text_is_preserved: "Escapes of a path are preserved." => [
        ("/api/v1/courses/using-%F0%9F%A4%97-transformers", 200), ("/api/v1/courses/%c3%bcber", 200),
    ];

    /// A slug may look like an escape itself.
    escapes_are_decoded_once: "Only the catalogue decodes a path, and only once." => [
        ("/api/v1/courses/a%20b", 200), ("/api/v1/courses/a%2520b", 200),
    ];

    escaped_slash_is_not_a_separator: "An escaped slash does not separate segments." => [
        ("/api/v1%2Fme", 404), ("/api/v1/courses%2fone", 404),
    ];

    /// A letter and its escape differ outside of slugs.
    escapes_are_not_normalized: "A path with other escapes is another path." => [
        ("/api/v1/%6De", 404), ("/%61pi/v1/me", 404),
    ];

    invalid_escapes_are_preserved: "Only the catalogue refuses an invalid escape." => [
        ("/api/v1/courses/%zz", 404), ("/api/v1/courses/%F0%9F", 404), ("/api/v1/courses/100%", 404),
    ];

    unescaped_text_is_preserved: "Unescaped non-ASCII text is preserved." => [("/api/v1/courses/\u{fc}ber", 200)];

    /// Plus, semicolon, equals sign and quote have no meaning in a path.
    reserved_characters_are_preserved: "Reserved characters in a path are preserved." => [
        ("/api/v1/courses/a+b", 200), ("/api/v1/courses/o'neill;v=1", 200),
    ];

    /// The response must not be a redirect.
    trailing_slash_is_preserved: "A path with a trailing slash is another path." => [
        ("/api/v1/me/", 404), ("/api/v1/courses/one/", 404),
    ];

    double_slashes_are_preserved: "A path with two slashes in a row is another path." => [
        ("//api/v1/me", 404), ("/api//v1/me", 404), ("/api/v1/courses//one", 404),
    ];

    /// Even if a router has stripped the mount's prefix.
    double_slash_after_mount_is_preserved: "The path after a mount is preserved, even with a second slash." => [
        ("/api/v1//me", 404),
    ];

    dot_segments_are_preserved: "Dot segments are not resolved." => [
        ("/api/v1/courses/../me", 404), ("/api/v1/./me", 404),
    ];

    path_case_is_preserved: "A path in upper case is another path." => [
        ("/API/v1/me", 404), ("/api/v1/courses/One", 404),
    ];

    /// RFC 9110 section 4.1 recommends to accept it.
    long_path_is_preserved: "A target of 8,000 octets reaches the catalogue." => [
        (format!("/api/v1/courses/{:a<1$}", "", 8_000 - "/api/v1/courses/".len()), 404),
    ];

    /// Asserts that a GET without a token for a mount matches the core.
    mount_paths_are_routed: "A request for a mount itself reaches the catalogue, with and without a slash." => {
        for (path, status) in [("/docs", 200), ("/docs/", 200), ("/api/v1", 404), ("/api/v1/", 404)] {
            frontend.assert_matches_core(rule, status, frontend.get(path)).await;
        }
        frontend.assert_matches_core(rule, 401, TestRequest::new("GET", "/api/v1")).await;
    };
}
