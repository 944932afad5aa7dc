//! Headers of all responses: request ids (decision A16), and a header against guesses of the media type.

use http::Method;

use crate::app::TestApp;

#[tokio::test]
async fn every_response_has_a_request_id_and_forbids_sniffing() {
    let app = TestApp::new().await;
    for (method, path) in [
        (Method::GET, "/api/v1/me"),
        (Method::GET, "/docs"),
        (Method::GET, "/docs/llms.txt"),
        (Method::GET, "/elsewhere"),
        (Method::OPTIONS, "/api/v1/me"),
        (Method::POST, "/api/v1/me"),
    ] {
        let own = app.send(method.clone(), path, &[("x-request-id", "my-id~!")]).await;
        assert_eq!(own.header("x-request-id"), Some("my-id~!"));
        assert_eq!(own.header("x-content-type-options"), Some("nosniff"), "{path}");
        let one = app.send(method.clone(), path, &[]).await;
        let two = app.send(method, path, &[("x-request-id", "not visible")]).await;
        assert!(one.header("x-request-id").is_some_and(|id| id.len() >= 16));
        assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
        assert_ne!(two.header("x-request-id"), Some("not visible"));
    }
}
