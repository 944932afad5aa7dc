//! `Authorization` and `Cookie` headers reach the catalogue unchanged, and the catalogue's refusals reach the client.

use std::convert::identity;

use crate::Frontend;
use crate::cases::case_table;
use crate::seed::SESSION;
use crate::test_request::TestRequest;

case_table! {
    ($) __credentials_cases; credentials, frontend, rule, identity;

    /// Without a token, with an unknown one, and with one that lacks the scope, which a header names.
    refusals_are_returned: "A refusal arrives with its challenge." => [
        (TestRequest::new("GET", "/api/v1/courses").bearer(&frontend.seed.profile_key), 403),
        (TestRequest::new("GET", "/api/v1/me").bearer("not-a-key"), 401),
        (TestRequest::new("GET", "/api/v1/me"), 401),
    ];

    /// Even if one or both of them are valid.
    repeated_tokens_return_401: "A repeated header arrives as often as it was sent." => [
        (frontend.get("/api/v1/me").bearer("other"), 401),
        (TestRequest::new("GET", "/api/v1/me").bearer("other").bearer(&frontend.seed.key), 401),
        (frontend.get("/api/v1/me").bearer(&frontend.seed.key), 401),
    ];

    /// The scheme is case-insensitive, several spaces may follow it, and other schemes carry no token.
    authentication_scheme_is_preserved: "Only the catalogue reads a token." => [
        (authorized_by(format!("bEARER  {}", frontend.seed.key)), 200),
        (authorized_by(format!("Basic {}", frontend.seed.key)), 401),
        (authorized_by(&frontend.seed.key), 401),
    ];

    /// The response is that for a malformed token, not the one for a missing token.
    non_ascii_bytes_are_preserved: "A header with non-ASCII bytes reaches the catalogue." => [
        (authorized_by(b"Bearer \xff\xfe"), 401), (authorized_by("Bearer k\u{e9}y"), 401),
    ];

    /// Only the header carries a token.
    token_in_query_is_ignored: "A token in the query is not read." => [
        (TestRequest::new("GET", format!("/api/v1/me?access_token={}", frontend.seed.key)), 401),
    ];

    /// A host application may identify callers by a cookie, and paging works with it.
    cookie_identifies_caller: "The cookies of a request reach the catalogue, which may identify its caller by one." => {
        let request = |target: &str| TestRequest::new("GET", target).header("cookie", format!("theme=dark; {SESSION}"));
        frontend.assert_matches_core(rule, 200, request("/api/v1/me")).await;
        frontend.assert_pagination_matches(rule, "/api/v1/courses?limit=3", request).await;
    };
}

fn authorized_by(value: impl AsRef<[u8]>) -> TestRequest {
    TestRequest::new("GET", "/api/v1/me").header("authorization", value)
}
