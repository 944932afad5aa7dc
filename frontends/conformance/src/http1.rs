//! Features that only HTTP/1 has.

use http::Version;

use crate::Frontend;
use crate::test_request::{HOST, TestRequest};

/// A target may be an absolute URL, as in requests to a proxy: every server must accept it (RFC 9112 section 3.2.2).
pub async fn absolute_targets_are_accepted(frontend: &Frontend) {
    let rule = "An absolute URL as target means its path and query.";
    frontend.assert_matches_core(rule, 200, frontend.get(format!("http://{HOST}/api/v1/courses?limit=1"))).await;
    frontend.assert_matches_core(rule, 404, frontend.get(format!("http://{HOST}/elsewhere"))).await;
}

/// An absolute URL without a path, as a target, means the root.
pub async fn absolute_target_without_path_is_root(frontend: &Frontend) {
    frontend
        .assert_matches_core(
            "An absolute URL without a path means its root.",
            404,
            frontend.get(format!("http://{HOST}")),
        )
        .await;
}

/// `OPTIONS *` is about the whole server (RFC 9112 section 3.2.4), and the catalogue is only a part of it.
pub async fn asterisk_returns_404(frontend: &Frontend) {
    frontend
        .assert_matches_core("The asterisk is not a path of the catalogue.", 404, TestRequest::new("OPTIONS", "*"))
        .await;
}

/// CONNECT is for proxies (RFC 9112 section 3.2.3), and gets a 404.
pub async fn connect_returns_404(frontend: &Frontend) {
    frontend
        .assert_matches_core("The catalogue responds to CONNECT.", 404, frontend.request("CONNECT", "example.com:443"))
        .await;
}

/// An HTTP/1.0 request gets the response of HTTP/1.1; HTTP/1.0 does not require `Host`.
pub async fn http_1_0_is_supported(frontend: &Frontend) {
    let rule = "An HTTP/1.0 request gets the response of HTTP/1.1.";
    for method in ["GET", "HEAD"] {
        let mut request = frontend.request(method, "/api/v1/courses?limit=1");
        request.version = Version::HTTP_10;
        frontend.assert_matches_core(rule, 200, request).await;
    }
}

/// A chunked body is ignored, although its length is unknown.
pub async fn chunked_body_is_ignored(frontend: &Frontend) {
    let mut request = frontend.get("/api/v1/me").header("transfer-encoding", "chunked");
    request.body = "7\r\nlimit=0\r\n0\r\n\r\n".into();
    frontend.assert_matches_core("A body of unknown length is ignored.", 200, request).await;
}

/// The response arrives before the body, which the client sends only afterwards.
pub async fn response_does_not_wait_for_body(frontend: &Frontend) {
    let mut request = frontend.get("/api/v1/me").body("limit=0");
    request.sends_body_after_response = true;
    frontend.assert_matches_core("The response does not wait for the body.", 200, request).await;
}
