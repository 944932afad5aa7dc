//! Metadata that name the authorization servers: RFC 9728 (decision O33).

use catalogue_core::storage::MemoryStorage;
use catalogue_core::{BuildError, Catalogue, CatalogueBuilder};
use http::{Method, Request};
use serde_json::json;

use super::issuer::{AUDIENCE, ISSUER};
use crate::app::{OWNER, TestApp, TestResponse};

const PATH: &str = "/.well-known/oauth-protected-resource/api/v1";
const PARAMETER: &str = r#", resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/api/v1""#;

fn at(base_url: &str) -> CatalogueBuilder {
    Catalogue::with_api_keys(MemoryStorage::new()).base_url(base_url)
}

async fn get(catalogue: &Catalogue, path: &str) -> TestResponse {
    TestResponse::from(catalogue.call(Request::get(path).body(()).unwrap()).await)
}

async fn app() -> TestApp {
    TestApp::with(|builder| builder.base_url(AUDIENCE).authorization_server(ISSUER)).await
}

#[tokio::test]
async fn metadata_name_the_api_and_its_issuers() {
    let response = app().await.send(Method::GET, PATH, &[("origin", "https://app.example.com")]).await;
    assert_eq!((response.status.as_u16(), response.header("content-type")), (200, Some("application/json")));
    assert_eq!(response.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(
        response.json(),
        json!({
            "resource": AUDIENCE,
            "authorization_servers": [ISSUER],
            "scopes_supported": ["read:profile", "read:courses"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Course Catalogue Read API",
            "resource_documentation": "https://api.example.com/docs",
        })
    );
}

#[tokio::test]
async fn metadata_support_head_options_and_revalidation() {
    let app = app().await;
    let whole = app.send(Method::GET, PATH, &[]).await;
    let head = app.send(Method::HEAD, PATH, &[]).await;
    assert_eq!((head.header("content-length"), head.body.len()), (whole.header("content-length"), 0));
    let known = [("if-none-match", whole.header("etag").unwrap())];
    assert_eq!(app.send(Method::GET, PATH, &known).await.status, 304);
    assert_eq!(app.send(Method::OPTIONS, PATH, &[]).await.status, 204);
    app.send(Method::POST, PATH, &[]).await.failure(405, "invalid_request");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/openid-configuration", &format!("{PATH}/")] {
        app.send(Method::GET, path, &[]).await.failure(404, "not_found");
    }
}

#[tokio::test]
async fn challenges_link_to_the_metadata() {
    let app = app().await;
    let profile = app.key(OWNER, "read:profile").await;
    for (authorization, challenge) in [
        ("", r#"Bearer realm="catalogue""#),
        ("Bearer x", r#"Bearer realm="catalogue", error="invalid_token""#),
        (&format!("Bearer {profile}"), r#"Bearer error="insufficient_scope", scope="read:courses""#),
    ] {
        let response = app.send(Method::GET, "/api/v1/courses", &[("authorization", authorization)]).await;
        assert_eq!(response.header("www-authenticate"), Some(&*format!("{challenge}{PARAMETER}")));
    }
}

#[tokio::test]
async fn metadata_return_404_without_authorization_server() {
    let app = TestApp::with(|builder| builder.base_url(AUDIENCE)).await;
    app.send(Method::GET, PATH, &[]).await.failure(404, "not_found");
    let response = app.send(Method::GET, "/api/v1/me", &[]).await;
    assert_eq!(response.header("www-authenticate"), Some(r#"Bearer realm="catalogue""#));
}

/// Clients compare the returned URL with the URL in their configuration, byte by byte.
#[tokio::test]
async fn resource_url_is_returned_as_configured() {
    for (base_url, path) in [
        ("https://api.example.com/api/v1/", "/api/v1/"),
        ("https://api.example.com", ""),
        ("https://api.example.com/", ""),
        ("http://127.0.0.1:8080/v1", "/v1"),
    ] {
        let catalogue = at(base_url).authorization_server(ISSUER).authorization_server("https://b.example").build();
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let response = get(&catalogue.unwrap(), &path).await;
        assert_eq!(response.json()["resource"], base_url);
        assert_eq!(response.json()["authorization_servers"], json!([ISSUER, "https://b.example"]));
    }
}

#[test]
fn authorization_server_requires_absolute_urls() {
    let refused = |builder: CatalogueBuilder| builder.build().map(drop).unwrap_err();
    let without = refused(at("/api/v1").authorization_server(ISSUER));
    assert_eq!(without, BuildError::RelativeBaseUrl("/api/v1".to_owned()));
    for bad in ["", "id.example.com", "/issuer", "https://a\"b"] {
        let error = refused(at(AUDIENCE).authorization_server(bad));
        assert_eq!(error, BuildError::AuthorizationServer(bad.to_owned()));
    }
}
