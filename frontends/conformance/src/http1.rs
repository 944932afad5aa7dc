//! Features that only HTTP/1 has.

use http::Version;

use crate::Frontend;
use crate::test_request::{HOST, TestRequest};

/// RFC 9112 section 3.2.2: the form for requests to a proxy, which every server must accept.
pub async fn absolute_targets_are_accepted(frontend: &Frontend) {
    let rule = "A whole address as target means its path and query.";
    frontend.assert_matches_core(rule, 200, frontend.get(format!("http://{HOST}/api/v1/courses?limit=1"))).await;
    frontend.assert_matches_core(rule, 404, frontend.get(format!("http://{HOST}/elsewhere"))).await;
}

/// A URL without a path means its root.
pub async fn absolute_target_without_path_is_root(frontend: &Frontend) {
    frontend
        .assert_matches_core(
            "A whole address without a path means its root.",
            404,
            frontend.get(format!("http://{HOST}")),
        )
        .await;
}

/// RFC 9112 section 3.2.4: a request about the server as a whole, which the catalogue is not.
pub async fn asterisk_returns_404(frontend: &Frontend) {
    frontend
        .assert_matches_core("The asterisk is no path of the catalogue.", 404, TestRequest::new("OPTIONS", "*"))
        .await;
}

/// RFC 9112 section 3.2.3: the server is not a proxy.
pub async fn connect_returns_404(frontend: &Frontend) {
    frontend
        .assert_matches_core(
            "CONNECT is answered by the catalogue.",
            404,
            frontend.request("CONNECT", "example.com:443"),
        )
        .await;
}

/// HTTP/1.0, which does not require `Host`.
pub async fn http_1_0_is_supported(frontend: &Frontend) {
    let rule = "A request of HTTP/1.0 is answered as one of HTTP/1.1.";
    for method in ["GET", "HEAD"] {
        let mut request = frontend.request(method, "/api/v1/courses?limit=1");
        request.version = Version::HTTP_10;
        frontend.assert_matches_core(rule, 200, request).await;
    }
}

/// A chunked body.
pub async fn chunked_body_is_ignored(frontend: &Frontend) {
    let mut request = frontend.get("/api/v1/me").header("transfer-encoding", "chunked");
    request.body = "7\r\nlimit=0\r\n0\r\n\r\n".into();
    frontend.assert_matches_core("A body of unknown length is ignored.", 200, request).await;
}

/// A body that is announced, but sent only after the response.
pub async fn response_does_not_wait_for_body(frontend: &Frontend) {
    let mut request = frontend.get("/api/v1/me").body("limit=0");
    request.sends_body_after_response = true;
    frontend.assert_matches_core("The answer does not wait for the body.", 200, request).await;
}
