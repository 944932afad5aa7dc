//! `Authorization` and `Cookie` headers reach the catalogue unchanged, and the catalogue's refusals reach the client.

use crate::Frontend;
use crate::seed::SESSION;
use crate::test_request::TestRequest;

/// A request without a token gets a 401.
pub async fn missing_token_returns_401(frontend: &Frontend) {
    frontend
        .assert_matches_core("A request without a token is refused.", 401, TestRequest::new("GET", "/api/v1/me"))
        .await;
}

/// An unknown token gets a 401.
pub async fn unknown_token_returns_401(frontend: &Frontend) {
    let request = TestRequest::new("GET", "/api/v1/me").bearer("not-a-key");
    frontend.assert_matches_core("A token reaches the catalogue, which refuses an unknown one.", 401, request).await;
}

/// A token without the required scope gets a 403, with a header that names the scope.
pub async fn missing_scope_returns_403(frontend: &Frontend) {
    let request = TestRequest::new("GET", "/api/v1/courses").bearer(&frontend.seed().profile_key);
    frontend.assert_matches_core("A refusal arrives with its challenge.", 403, request).await;
}

/// Two `Authorization` headers get a 401, even if one or both are valid.
pub async fn repeated_tokens_return_401(frontend: &Frontend) {
    let rule = "A repeated header arrives as often as it was sent.";
    frontend.assert_matches_core(rule, 401, frontend.get("/api/v1/me").bearer("other")).await;
    let first_is_wrong = TestRequest::new("GET", "/api/v1/me").bearer("other").bearer(&frontend.seed().key);
    frontend.assert_matches_core(rule, 401, first_is_wrong).await;
    frontend.assert_matches_core(rule, 401, frontend.get("/api/v1/me").bearer(&frontend.seed().key)).await;
}

/// The scheme is case-insensitive, several spaces may follow it, and other schemes carry no token.
pub async fn authentication_scheme_is_preserved(frontend: &Frontend) {
    let rule = "Only the catalogue reads a token.";
    let key = &frontend.seed().key;
    for (value, status) in [(format!("bEARER  {key}"), 200), (format!("Basic {key}"), 401), (key.clone(), 401)] {
        frontend
            .assert_matches_core(rule, status, TestRequest::new("GET", "/api/v1/me").header("authorization", value))
            .await;
    }
}

/// A token with non-ASCII bytes gets the response for a malformed token, not the one for a missing token.
pub async fn non_ascii_bytes_are_preserved(frontend: &Frontend) {
    let rule = "A header with non-ASCII bytes reaches the catalogue.";
    for value in [&b"Bearer \xff\xfe"[..], "Bearer k\u{e9}y".as_bytes()] {
        frontend
            .assert_matches_core(rule, 401, TestRequest::new("GET", "/api/v1/me").header("authorization", value))
            .await;
    }
}

/// A token in the query is ignored: only the header carries one.
pub async fn token_in_query_is_ignored(frontend: &Frontend) {
    let target = format!("/api/v1/me?access_token={}", frontend.seed().key);
    frontend.assert_matches_core("A token in the query is not read.", 401, TestRequest::new("GET", target)).await;
}

/// A host application may identify callers by a cookie, and paging works with it.
pub async fn cookie_identifies_caller(frontend: &Frontend) {
    let rule = "The cookies of a request reach the catalogue, which may identify its caller by one.";
    let request = |target: &str| TestRequest::new("GET", target).header("cookie", format!("theme=dark; {SESSION}"));
    frontend.assert_matches_core(rule, 200, request("/api/v1/me")).await;
    frontend.assert_pagination_matches(rule, "/api/v1/courses?limit=3", request).await;
}
