//! Compression by `Accept-Encoding` (RFC 9110 section 12.5.3): in the core, so that all frontends behave the same.

use http::Method;

use crate::app::{TestApp, TestResponse, course};

async fn app_with_a_page() -> (TestApp, String) {
    TestApp::with_courses((0..50).map(|n| course(&format!("course-{n:02}"), n))).await
}

async fn get(app: &TestApp, method: Method, token: &str, path: &str, encodings: &str) -> TestResponse {
    let bearer = format!("Bearer {token}");
    app.send(method, path, &[("authorization", &bearer), ("accept-encoding", encodings)]).await
}

#[tokio::test]
async fn compressed_response_has_same_bytes_and_headers() {
    let (app, token) = app_with_a_page().await;
    for path in ["/api/v1/courses", "/api/v1/openapi.json", "/docs/openapi.json", "/docs/openapi.md", "/docs"] {
        let plain = get(&app, Method::GET, &token, path, "identity").await;
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        for accepted in ["gzip, deflate, identity;q=0.5", "gzip, deflate, br, zstd", "*"] {
            let compressed = get(&app, Method::GET, &token, path, accepted).await;
            let head = get(&app, Method::HEAD, &token, path, accepted).await;
            assert_eq!((head.body.len(), head.header("content-encoding")), (0, Some("gzip")), "{path}");
            assert_eq!(compressed.header("content-encoding"), Some("gzip"), "{path}");
            assert_eq!(compressed.header("content-length"), Some(&*compressed.body.len().to_string()));
            assert!(compressed.body.len() * 2 <= plain.body.len());
            assert_eq!(compressed.decoded(), plain.body);
            for header in ["etag", "content-type", "vary", "cache-control", "link"] {
                assert_eq!(compressed.header(header), plain.header(header), "{path} {header}");
                assert_eq!(compressed.header(header), head.header(header), "{path} {header}");
            }
            assert_eq!(compressed.header("content-length"), head.header("content-length"), "{path}");
        }
    }
}

#[tokio::test]
async fn small_responses_and_failures_are_not_compressed() {
    let (app, token) = app_with_a_page().await;
    for path in ["/api/v1/me", "/api/v1/courses?limit=1", "/api/v1/courses/nobody", "/api/v1/courses?limit=0"] {
        let response = get(&app, Method::GET, &token, path, "gzip").await;
        assert_eq!(response.header("content-encoding"), None, "{path}");
    }
}

#[tokio::test]
async fn etag_revalidates_all_encodings() {
    let (app, token) = app_with_a_page().await;
    let plain = get(&app, Method::GET, &token, "/api/v1/courses", "identity").await;
    let bearer = format!("Bearer {token}");
    let headers =
        [("authorization", &*bearer), ("accept-encoding", "gzip"), ("if-none-match", plain.header("etag").unwrap())];
    let response = app.send(Method::GET, "/api/v1/courses", &headers).await;
    assert_eq!(response.status, 304);
    assert_eq!(response.header("content-encoding"), None);
}
