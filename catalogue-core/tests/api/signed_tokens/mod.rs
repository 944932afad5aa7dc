//! Signed tokens of an authorization server: responses to callers (decisions A3, A5, A19, O20 and O32).

mod introspected;
pub(crate) mod issuer;
mod metadata;
mod revocations;

use std::sync::Arc;

use bytes::Bytes;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_core::auth::{BearerToken, CredentialKind, Identity, Scopes};
use catalogue_core::{AccountId, CatalogueBuilder};
use serde_json::{Value, json};

use crate::app::{OWNER, TestApp, TestResponse, course};
use crate::clock::Clock;
use crate::observer::Recorder;
use issuer::{AUDIENCE, ISSUER, Issuer, now};

/// Creates an app that accepts the issuer's tokens in addition to API keys.
async fn app(issuer: &Issuer, settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> TestApp {
    let app = TestApp::with(|builder| settings(builder.or_authenticator(issuer.tokens()))).await;
    app.put([course("c", 0)]).await;
    app
}

/// Returns an observer that records the code of each refusal.
fn refusal_codes() -> Arc<Recorder<Option<&'static str>>> {
    Recorder::of(|request| request.explanation.map(|explanation| explanation.code))
}

/// Returns the reason and the challenge of a 401.
#[track_caller]
fn refusal(response: &TestResponse) -> (Value, &str) {
    (response.failure(401, "unauthorized")["reason"].clone(), response.header("www-authenticate").unwrap())
}

#[tokio::test]
async fn signed_token_reads_courses_of_its_account() {
    let issuer = Issuer::new();
    let app = app(&issuer, |builder| builder).await;
    let token = issuer.token(&json!({}));
    for _ in 0..2 {
        assert_eq!(app.get(&token, "/api/v1/courses").await.data()[0]["slug"], "c");
    }
    let me = app.get(&token, "/api/v1/me").await.data();
    let digest = BearerToken::new(&token).unwrap().digest();
    let id: String = digest.as_bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(me, json!({ "userId": OWNER, "apiKeyId": format!("oauth:{id}"), "scopes": ["read:courses"] }));
    let stranger = issuer.token(&json!({ "sub": "nobody" }));
    assert_eq!(app.get(&stranger, "/api/v1/courses").await.data(), json!([]));
}

#[tokio::test]
async fn only_genuine_token_gets_error_description() {
    let issuer = Issuer::new();
    let app = app(&issuer, |builder| builder).await;
    for (other, reason, description) in [
        (json!({ "aud": "https://other.example.com" }), "invalid", "The token is for another audience."),
        (json!({ "exp": now() - 1.0 }), "expired", "The token has expired."),
    ] {
        let response = app.get(&issuer.token(&other), "/api/v1/me").await;
        let challenge =
            format!(r#"Bearer realm="catalogue", error="invalid_token", error_description="{description}""#);
        assert_eq!(refusal(&response), (json!(reason), &*challenge));
    }
    // A token that the issuer did not sign gets no description, whatever its claims.
    let plain = r#"Bearer realm="catalogue", error="invalid_token""#;
    for other in [json!({}), json!({ "exp": 1 }), json!({ "aud": "x" }), json!({ "iss": "x" })] {
        let response = app.get(&Issuer::new().token(&other), "/api/v1/me").await;
        assert_eq!(refusal(&response), (json!("invalid"), plain));
    }
}

#[tokio::test]
async fn issuer_does_not_affect_other_refusals() {
    let (with, without) = (app(&Issuer::new(), |builder| builder).await, TestApp::new().await);
    without.put([course("c", 0)]).await;
    for app in [&with, &without] {
        let expired = catalogue_core::Timestamp::from_microseconds(1);
        let (token, _) = app.credential(CredentialKind::ApiKey, OWNER, "read:courses", expired).await;
        let response = app.get(&token, "/api/v1/me").await;
        assert_eq!(refusal(&response), (json!("expired"), r#"Bearer realm="catalogue", error="invalid_token""#));
    }
    let id = [("x-request-id", "one")];
    for authorization in ["", "Basic x", "Bearer x", "Bearer a.b", "Bearer a.b.c", "Bearer ccat_x", "Bearer a b"] {
        let headers = [("authorization", authorization), id[0]];
        let responses = [
            with.send(http::Method::GET, "/api/v1/me", &headers).await,
            without.send(http::Method::GET, "/api/v1/me", &headers).await,
        ];
        assert_eq!((&responses[0].headers, &responses[0].body), (&responses[1].headers, &responses[1].body));
        assert_eq!(responses.map(|response| response.status.as_u16()), [401, 401]);
    }
}

/// An issuer's keys verify only its own tokens, and an issuer without keys affects only its own tokens: they get a 500.
#[tokio::test]
async fn issuers_are_independent_authenticators() {
    const OTHER: &str = "https://id.example.org";
    const WITHOUT_KEYS: &str = "https://id.example.net";
    let (one, other) = (Issuer::new(), Issuer::new());
    let without_keys = SignedTokens::builder(WITHOUT_KEYS, AUDIENCE, Bytes::new()).build().unwrap();
    let app =
        app(&one, |builder| builder.or_authenticator(without_keys).or_authenticator(other.tokens_of(OTHER))).await;
    for _ in 0..2 {
        for (issuer, name, status) in [
            (&one, ISSUER, 200),
            (&other, OTHER, 200),
            (&one, OTHER, 401),
            (&other, ISSUER, 401),
            (&other, "https://id.example", 401),
            (&one, WITHOUT_KEYS, 500),
        ] {
            let response = app.get(&issuer.token(&json!({ "iss": name })), "/api/v1/courses").await;
            assert_eq!(response.status, status, "{name}");
            if status == 500 {
                response.failure(500, "internal_error");
                assert_eq!(response.header("www-authenticate"), None);
                assert!(!String::from_utf8_lossy(&response.body).contains("id.example"));
            }
        }
    }
    let key = app.key(OWNER, "read:courses").await;
    assert_eq!(app.get(&key, "/api/v1/courses").await.status, 200);
}

/// A fresh token does not reset the limit. Another client or account has a separate limit.
#[tokio::test]
async fn limit_is_counted_by_issuer_client_and_account() {
    let issuer = Issuer::new();
    let clock = Clock::new();
    let app = app(&issuer, |builder| builder.rate_limiter(clock.limiter(2, 60))).await;
    for status in [200, 200, 429] {
        assert_eq!(app.get(&issuer.token(&json!({})), "/api/v1/me").await.status, status);
    }
    for other in [json!({ "client_id": "another" }), json!({ "sub": "acc_other" })] {
        assert_eq!(app.get(&issuer.token(&other), "/api/v1/me").await.status, 200, "{other}");
    }
}

#[test]
fn rate_limit_subject_is_unique_per_client() {
    use catalogue_core::auth::Issued;

    let counted = |text: &str, issuer: &str, client: Option<&str>| {
        let digest = BearerToken::new(text).unwrap().digest();
        let issued = Issued::new(issuer, client.map(Into::into));
        let identity = Identity::issued(AccountId::new("acc"), &digest, Scopes::default(), issued);
        (identity.rate_limit_subject().to_owned(), identity.credential_id.to_string())
    };
    let (first, id) = counted("a", "issuer", Some("client"));
    assert!(first.starts_with("client:") && id.starts_with("oauth:"));
    assert_eq!(counted("b", "issuer", Some("client")).0, first);
    assert_ne!(counted("a", "issue", Some("rclient")).0, first);
    assert_ne!(counted("a", "issuer", Some("client2")).0, first);
    // Tokens without a client share the subject of their issuer.
    let (shared, id) = counted("a", "issuer", None);
    assert!(shared != id && shared != counted("a", "issuer", Some("")).0 && shared != counted("a", "issue", None).0);
    assert_eq!(counted("b", "issuer", None).0, shared);
    let key = Identity::api_key(AccountId::new("acc"), "key_1", Scopes::default());
    assert_eq!((key.rate_limit_subject(), &key.issued), ("key_1", &None));
}

#[tokio::test]
async fn observer_gets_the_refusal_code() {
    let (issuer, codes) = (Issuer::new(), refusal_codes());
    let app = app(&issuer, |builder| builder.observer(Arc::clone(&codes))).await;
    codes.take();
    app.get(&issuer.token(&json!({})), "/api/v1/me").await;
    app.get(&issuer.token(&json!({ "aud": "x" })), "/api/v1/me").await;
    app.get(&Issuer::new().token(&json!({})), "/api/v1/me").await;
    app.get("unknown", "/api/v1/me").await;
    assert_eq!(codes.take(), [None, Some("audience"), Some("signature"), None]);
}
