//! Opaque tokens that are introspected: responses to callers (decisions A2, A19 and O35 to O38).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use catalogue_core::auth::introspected::{Introspect, IntrospectedTokens};
use catalogue_core::limit::ClientAddress;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{CatalogueBuilder, async_trait};
use http::Request;
use serde_json::json;

use super::issuer::{AUDIENCE, Issuer, now};
use super::{refusal, refusal_codes};
use crate::app::{BASE, OWNER, TestApp, course, send};
use crate::clock::Clock;

/// Accepts tokens that begin with `good`, and counts its calls.
#[derive(Clone, Debug, Default)]
struct Introspector(Arc<AtomicUsize>);

impl Introspector {
    fn calls(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Introspect for Introspector {
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut response = json!({
            "active": token.starts_with("good"), "aud": AUDIENCE, "sub": OWNER, "client_id": "partner",
            "exp": now() + 60.0, "scope": "read:courses",
        });
        match token {
            "good-elsewhere" => response["aud"] = json!("https://other.example.com"),
            "unreachable" => {
                return Err(StorageError::new(StorageErrorKind::Unavailable, "id.example.com: connection refused"));
            }
            _ => {}
        }
        Ok(response.to_string().into())
    }
}

async fn app(settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> (TestApp, Introspector, Issuer) {
    let (introspector, issuer) = (Introspector::default(), Issuer::new());
    let signed = issuer.tokens();
    let opaque = IntrospectedTokens::of(&signed, introspector.clone());
    let app =
        TestApp::with(|builder| settings(builder.or_authenticator(signed).or_authenticator(Arc::new(opaque)))).await;
    app.put([course("c", 0)]).await;
    (app, introspector, issuer)
}

#[tokio::test]
async fn opaque_token_reads_courses_of_its_account() {
    let (app, introspector, issuer) = app(|builder| builder).await;
    assert_eq!(app.get("good", "/api/v1/courses").await.data()[0]["slug"], "c");
    // API keys, and tokens that look like a key or a signed token, are not introspected.
    let key = app.key(OWNER, "read:courses").await;
    for token in [&key, &issuer.token(&json!({}))] {
        assert_eq!(app.get(token, "/api/v1/courses").await.status, 200);
    }
    for token in [&Issuer::new().token(&json!({})), "ccat_x", "cato_x"] {
        assert_eq!(app.get(token, "/api/v1/courses").await.status, 401);
    }
    assert_eq!(introspector.calls(), 1);
}

#[tokio::test]
async fn only_active_token_gets_error_description() {
    let codes = refusal_codes();
    let (app, ..) = app(|builder| builder.observer(Arc::clone(&codes))).await;
    codes.take();
    let plain = r#"Bearer realm="catalogue", error="invalid_token""#;
    assert_eq!(refusal(&app.get("unknown", "/api/v1/me").await), (json!("invalid"), plain));
    let described = format!(r#"{plain}, error_description="The token is for another audience.""#);
    assert_eq!(refusal(&app.get("good-elsewhere", "/api/v1/me").await), (json!("invalid"), &*described));
    assert_eq!(codes.take(), [Some("inactive"), Some("audience")]);
}

/// A client that tries unknown tokens causes no more introspections than its limit allows. A failed one is refunded.
#[tokio::test]
async fn unknown_tokens_are_limited_before_introspection() {
    let clock = Clock::new();
    let (app, introspector, _) = app(|builder| builder.rate_limiter(clock.limiter(1, 60))).await;
    for (token, status) in [("unreachable", 500), ("guess", 401), ("another", 429), ("more", 429)] {
        let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
        let request = request.extension(ClientAddress("192.0.2.1".parse().unwrap()));
        let response = send(&app.catalogue, BASE, request.body(()).unwrap()).await;
        assert_eq!(response.status, status, "{token}");
        assert!(!String::from_utf8_lossy(&response.body).contains("id.example.com"), "{token}");
    }
    assert_eq!(introspector.calls(), 2);
}
