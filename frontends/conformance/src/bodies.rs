//! The body of a request is ignored.

use crate::Frontend;

/// The body of a GET is ignored.
pub async fn body_is_ignored(frontend: &Frontend) {
    let request = frontend.get("/api/v1/me").body("limit=0");
    frontend.assert_matches_core("A body is ignored.", 200, request).await;
}

/// A body that does not match its media type is ignored, like any other.
pub async fn body_is_not_parsed(frontend: &Frontend) {
    let rule = "A body is not parsed.";
    for media_type in ["application/json", "application/x-www-form-urlencoded", "no media type"] {
        let request = frontend.get("/api/v1/courses?limit=1").header("content-type", media_type).body("{\"limit\": ");
        frontend.assert_matches_core(rule, 200, request).await;
    }
}

/// A body does not change the response to methods other than GET.
pub async fn method_is_refused_despite_a_body(frontend: &Frontend) {
    let rule = "A method is refused even with a body.";
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let status = if method == "OPTIONS" { 204 } else { 405 };
        frontend.assert_matches_core(rule, status, frontend.request(method, "/api/v1/courses").body("{}")).await;
    }
}
