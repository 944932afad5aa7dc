//! Conditional requests (decisions A14 and A15): entity tags, 304, and the headers for caches.

use catalogue_core::Catalogue;
use http::{Method, Request};

use crate::app::{OTHER, OWNER, TestApp, TestResponse, course};

async fn revalidate(app: &TestApp, token: &str, path: &str, tag: &str) -> TestResponse {
    let bearer = format!("Bearer {token}");
    app.send(Method::GET, path, &[("authorization", &bearer), ("if-none-match", tag)]).await
}

#[tokio::test]
async fn api_responses_can_be_revalidated() {
    let app = TestApp::new().await;
    app.put((0..3).map(|n| course(&format!("c{n}"), n))).await;
    let token = app.key(OWNER, "read:courses").await;
    for path in
        ["/api/v1/me", "/api/v1/courses", "/api/v1/courses?limit=1", "/api/v1/courses/c1", "/api/v1/openapi.json"]
    {
        let full = app.get(&token, path).await;
        assert_eq!(full.header("cache-control"), Some("private, no-cache"));
        assert_eq!(full.header("vary"), Some("Authorization, Accept-Encoding"));
        let tag = full.header("etag").unwrap();
        assert!(tag.starts_with("W/\"") && tag.ends_with('"'), "{tag}");

        for named in [tag, &tag[2..], "*", &format!("\"other\", {tag}")] {
            let response = revalidate(&app, &token, path, named).await;
            assert_eq!(response.status, 304, "{path} {named}");
            assert!(response.body.is_empty());
            assert_eq!(response.header("etag"), Some(tag));
            assert_eq!(response.header("cache-control"), Some("private, no-cache"));
            assert_eq!(response.header("vary"), Some("Authorization, Accept-Encoding"));
            assert_eq!(response.header("content-length"), None);
            assert_eq!(response.header("content-type"), None);
            assert_eq!(response.header("link"), None);
        }
        assert_eq!(revalidate(&app, &token, path, "\"other\"").await.body, full.body);
    }
}

#[tokio::test]
async fn etag_changes_with_the_content() {
    let app = TestApp::new().await;
    app.put([course("c", 0)]).await;
    let token = app.key(OWNER, "read:courses").await;
    for path in ["/api/v1/courses", "/api/v1/courses/c"] {
        let before = app.get(&token, path).await.header("etag").unwrap().to_owned();
        assert_eq!(app.get(&token, path).await.header("etag").unwrap(), before);
        let mut changed = course("c", 0);
        changed.title = format!("Changed for {path}");
        app.put([changed]).await;
        let after = revalidate(&app, &token, path, &before).await;
        assert_eq!(after.status, 200);
        assert_ne!(after.header("etag").unwrap(), before);
    }
}

#[tokio::test]
async fn identities_have_different_etags() {
    let app = TestApp::new().await;
    let tag = app.get(&app.key(OWNER, "read:courses").await, "/api/v1/me").await.header("etag").unwrap().to_owned();
    let other = app.key(OTHER, "read:courses").await;
    assert_eq!(revalidate(&app, &other, "/api/v1/me", &tag).await.status, 200);
}

#[tokio::test]
async fn failure_never_returns_304() {
    let app = TestApp::new().await;
    let token = app.key(OWNER, "read:courses").await;
    revalidate(&app, &token, "/api/v1/courses/nobody", "*").await.failure(404, "not_found");
    revalidate(&app, "invalid", "/api/v1/me", "*").await.failure(401, "unauthorized");
}

#[tokio::test]
async fn every_response_forbids_sniffing() {
    let app = TestApp::new().await;
    for (method, path) in [
        (Method::GET, "/api/v1/me"),
        (Method::GET, "/elsewhere"),
        (Method::GET, "/docs"),
        (Method::OPTIONS, "/api/v1/me"),
        (Method::POST, "/api/v1/me"),
    ] {
        let response = app.send(method, path, &[]).await;
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn etag_depends_on_the_base_url() {
    let app = TestApp::new().await;
    app.put((0..3).map(|n| course(&format!("c{n}"), n))).await;
    let token = app.key(OWNER, "read:courses").await;
    let page = app.get(&token, "/api/v1/courses?limit=1").await;
    let elsewhere =
        Catalogue::with_api_keys(app.storage.clone()).base_url("https://example.com/api/v1").build().unwrap();
    let request = Request::get("/api/v1/courses?limit=1").header("authorization", format!("Bearer {token}"));
    let request = request.header("if-none-match", page.header("etag").unwrap()).body(()).unwrap();
    let response = elsewhere.call(request).await;
    assert_eq!(response.status(), 200);
    assert!(response.headers()["link"].to_str().unwrap().starts_with("<https://example.com/"));
}
