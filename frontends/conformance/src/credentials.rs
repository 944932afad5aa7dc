//! The `Authorization` header reaches the catalogue unchanged, and the catalogue's refusals reach the client.

use crate::Frontend;
use crate::ask::Ask;
use crate::seed::SESSION;

/// A request without the header gets a 401.
pub async fn a_missing_token_is_refused(frontend: &Frontend) {
    frontend.agrees("A request without a token is refused as one.", 401, Ask::new("GET", "/api/v1/me")).await;
}

/// An unknown token.
pub async fn an_unknown_token_is_refused(frontend: &Frontend) {
    let ask = Ask::new("GET", "/api/v1/me").bearer("not-a-key");
    frontend.agrees("A token reaches the catalogue, which refuses what it does not know.", 401, ask).await;
}

/// The refusal names the missing scope in a header.
pub async fn a_missing_scope_is_refused(frontend: &Frontend) {
    let ask = Ask::new("GET", "/api/v1/courses").bearer(&frontend.seed().profile_key);
    frontend.agrees("A refusal arrives with its challenge.", 403, ask).await;
}

/// Two headers count as none, even if one or both are valid.
pub async fn repeated_tokens_are_refused(frontend: &Frontend) {
    let rule = "A repeated header arrives as often as it was sent.";
    frontend.agrees(rule, 401, frontend.get("/api/v1/me").bearer("other")).await;
    let first_is_wrong = Ask::new("GET", "/api/v1/me").bearer("other").bearer(&frontend.seed().key);
    frontend.agrees(rule, 401, first_is_wrong).await;
    frontend.agrees(rule, 401, frontend.get("/api/v1/me").bearer(&frontend.seed().key)).await;
}

/// The scheme is case-insensitive, several spaces may follow it, and other schemes carry no token.
pub async fn the_scheme_is_kept(frontend: &Frontend) {
    let rule = "A token is read by the catalogue alone.";
    let key = &frontend.seed().key;
    for (value, status) in [(format!("bEARER  {key}"), 200), (format!("Basic {key}"), 401), (key.clone(), 401)] {
        frontend.agrees(rule, status, Ask::new("GET", "/api/v1/me").header("authorization", value)).await;
    }
}

/// A token with non-ASCII bytes is malformed, which differs from missing.
pub async fn bytes_beyond_ascii_are_kept(frontend: &Frontend) {
    let rule = "A header of bytes beyond ASCII reaches the catalogue.";
    for value in [&b"Bearer \xff\xfe"[..], "Bearer k\u{e9}y".as_bytes()] {
        frontend.agrees(rule, 401, Ask::new("GET", "/api/v1/me").header("authorization", value)).await;
    }
}

/// Only the header carries a token.
pub async fn a_token_in_the_query_is_none(frontend: &Frontend) {
    let target = format!("/api/v1/me?access_token={}", frontend.seed().key);
    frontend.agrees("A token in the query is not read.", 401, Ask::new("GET", target)).await;
}

/// A host application may identify callers by a cookie, and paging works with it.
pub async fn a_cookie_identifies_its_caller(frontend: &Frontend) {
    let rule = "The cookies of a request reach the catalogue, which may know its caller by one.";
    let ask = |target: &str| Ask::new("GET", target).header("cookie", format!("theme=dark; {SESSION}"));
    frontend.agrees(rule, 200, ask("/api/v1/me")).await;
    frontend.walks(rule, "/api/v1/courses?limit=3", ask).await;
}
