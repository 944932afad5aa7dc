//! Access to the documents, and their headers (section 4.4; decisions R11, A14, A15).

use http::Method;

use crate::app::{OWNER, TestApp};

const DOCUMENTS: [(&str, &str); 6] = [
    ("/docs/openapi.json", "application/json"),
    ("/docs/openapi-3.0.json", "application/json"),
    ("/docs/openapi.md", "text/markdown; charset=utf-8"),
    ("/docs/llms.txt", "text/plain; charset=utf-8"),
    ("/docs", "text/html; charset=utf-8"),
    ("/docs/", "text/html; charset=utf-8"),
];

#[tokio::test]
async fn documents_are_public_cacheable_and_revalidated() {
    let app = TestApp::new().await;
    for (path, media_type) in DOCUMENTS {
        for headers in [&[][..], &[("authorization", "Bearer invalid")]] {
            let response = app.send(Method::GET, path, headers).await;
            assert_eq!(response.status, 200, "{path}");
            assert_eq!(response.header("content-type"), Some(media_type));
            assert_eq!(response.header("cache-control"), Some("public, max-age=300"));
            assert!(response.header("vary").unwrap().contains("Accept-Encoding"), "{path}");
            let tag = response.header("etag").unwrap();
            let again = app.send(Method::GET, path, &[("if-none-match", tag)]).await;
            assert_eq!(again.status, 304, "{path}");
            assert_eq!(again.header("etag"), Some(tag));
        }
    }
}

#[tokio::test]
async fn document_is_equal_at_all_its_paths() {
    let app = TestApp::new().await;
    let token = app.key(OWNER, "read:profile").await;
    let private = app.get(&token, "/api/v1/openapi.json").await;
    let public = app.send(Method::GET, "/docs/openapi.json", &[]).await;
    assert_eq!(private.body, public.body);
    assert!(private.json().get("data").is_none(), "the document has no envelope");
    let [bare, slash] = [app.send(Method::GET, "/docs", &[]).await, app.send(Method::GET, "/docs/", &[]).await];
    assert_eq!(bare.body, slash.body);
    assert_eq!(private.json()["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
}
