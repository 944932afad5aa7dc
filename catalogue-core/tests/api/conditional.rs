//! Conditional requests (decisions A14 and A15): entity tags, 304, and the headers for caches.

use crate::app::{OTHER, OWNER, TestApp, course};

#[tokio::test]
async fn api_responses_can_be_revalidated() {
    let (app, token) = TestApp::with_courses((0..3).map(|n| course(&format!("c{n}"), n))).await;
    for path in
        ["/api/v1/me", "/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/c1", "/api/v1/openapi.json"]
    {
        let full = app.get(&token, path).await;
        assert_eq!(full.header("cache-control"), Some("private, no-cache"));
        assert_eq!(full.header("vary"), Some("Authorization, Accept-Encoding"));
        let tag = full.header("etag").unwrap();
        assert!(tag.starts_with("W/\"") && tag.ends_with('"'), "{tag}");

        for named in [tag, &tag[2..], "*", &format!("\"other\", {tag}")] {
            let response = app.revalidate(&token, path, named).await;
            assert_eq!(response.status, 304, "{path} {named}");
            assert!(response.body.is_empty());
            assert_eq!(response.header("etag"), Some(tag));
            assert_eq!(response.header("cache-control"), Some("private, no-cache"));
            assert_eq!(response.header("vary"), Some("Authorization, Accept-Encoding"));
            assert_eq!(response.header("content-length"), None);
            assert_eq!(response.header("content-type"), None);
            assert_eq!(response.header("link"), None);
        }
        assert_eq!(app.revalidate(&token, path, "\"other\"").await.body, full.body);
    }
}

#[tokio::test]
async fn identities_have_different_etags() {
    let app = TestApp::new().await;
    let tag = app.get(&app.key(OWNER, "read:courses").await, "/api/v1/me").await.header("etag").unwrap().to_owned();
    let other = app.key(OTHER, "read:courses").await;
    assert_eq!(app.revalidate(&other, "/api/v1/me", &tag).await.status, 200);
}

#[tokio::test]
async fn failure_never_returns_304() {
    let (app, token) = TestApp::with_courses([]).await;
    app.revalidate(&token, "/api/v1/courses/nobody", "*").await.failure(404, "not_found");
    app.revalidate("invalid", "/api/v1/me", "*").await.failure(401, "unauthorized");
}
