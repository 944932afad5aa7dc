//! Authentication (section 5; decisions A3 to A6, C1, C3).

use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::auth::CredentialKind;
use http::Method;
use serde_json::json;

use crate::app::{OWNER, TestApp, TestResponse, course};

#[track_caller]
fn assert_refused(response: &TestResponse, reason: &str) {
    assert_eq!(response.failure(401, "unauthorized"), json!({ "reason": reason }));
    let challenge = match reason {
        "missing" => r#"Bearer realm="catalogue""#,
        _ => r#"Bearer realm="catalogue", error="invalid_token""#,
    };
    assert_eq!(response.header("www-authenticate"), Some(challenge));
}

#[tokio::test]
async fn absent_or_repeated_header_other_scheme_or_place_counts_as_missing() {
    let (app, token) = TestApp::with_courses([]).await;
    let bearer = format!("Bearer {token}");
    for headers in [
        &[][..],
        &[("authorization", "Basic YTpi")],
        &[("authorization", &*token)],
        &[("authorization", "")],
        &[("authorization", "Bearer")],
        &[("authorization", "Bearer  ")],
        &[("authorization", &format!("Bearer{token}"))],
        &[("authorization", &format!("Bearer\t{token}"))],
        &[("authorization", &bearer), ("authorization", &bearer)],
        &[("x-api-key", &token)],
    ] {
        assert_refused(&app.send(Method::GET, "/api/v1/me", headers).await, "missing");
    }
    let target = format!("/api/v1/me?access_token={token}&token={token}");
    assert_refused(&app.send(Method::GET, &target, &[]).await, "missing");
}

#[tokio::test]
async fn scheme_is_case_insensitive() {
    let (app, token) = TestApp::with_courses([]).await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR  "] {
        let header = format!("{scheme} {token}");
        app.send(Method::GET, "/api/v1/me", &[("authorization", &header)]).await.data();
    }
}

#[tokio::test]
async fn malformed_and_unknown_tokens_are_invalid() {
    let app = TestApp::new().await;
    let known = app.key(OWNER, "read:courses").await;
    let unknown = TestApp::new().await.key(OWNER, "read:courses").await;
    let mistyped = known.replace("ccat_", "ccat-");
    for token in [
        "x",
        "a b",
        "a,b",
        "=",
        "a=b",
        "ü",
        "ccat_",
        &unknown,
        &mistyped,
        &known[..53],
        &format!("{known}0"),
        &known.to_uppercase(),
    ] {
        // The token is checked before the parameters.
        assert_refused(&app.get(token, "/api/v1/courses?limit=0").await, "invalid");
    }
}

#[tokio::test]
async fn expired_token_is_refused_as_expired() {
    let app = TestApp::new().await;
    for &kind in CredentialKind::ALL {
        let (expired, _) = app.credential(kind, OWNER, "read:courses", Some(Timestamp::now())).await;
        assert_refused(&app.get(&expired, "/api/v1/courses").await, "expired");
        let later = Timestamp::now().checked_add(Duration::from_hours(1));
        let (fresh, _) = app.credential(kind, OWNER, "read:courses", later).await;
        app.get(&fresh, "/api/v1/courses").await.data();
    }
}

#[tokio::test]
async fn revoked_token_is_refused_immediately() {
    let app = TestApp::new().await;
    for &kind in CredentialKind::ALL {
        let (token, id) = app.credential(kind, OWNER, "read:courses", None).await;
        app.get(&token, "/api/v1/courses").await.data();
        app.revoke(&id).await;
        assert_refused(&app.get(&token, "/api/v1/courses").await, "revoked");
    }
}

#[tokio::test]
async fn token_without_required_scope_is_refused() {
    let app = TestApp::new().await;
    app.put([course("c", 0)]).await;
    let token = app.key(OWNER, "read:profile extra").await;
    for path in ["/api/v1/courses", "/api/v1/courses/c", "/api/v1/courses/nobody", "/api/v1/courses?limit=0"] {
        let response = app.get(&token, path).await;
        let details = response.failure(403, "insufficient_scope");
        assert_eq!(details, json!({ "required": ["read:courses"], "granted": ["read:profile", "extra"] }));
        let challenge = r#"Bearer error="insufficient_scope", scope="read:courses""#;
        assert_eq!(response.header("www-authenticate"), Some(challenge));
    }
    for path in ["/api/v1/me", "/api/v1/openapi.json"] {
        assert_eq!(app.get(&token, path).await.status, 200);
    }
}

#[tokio::test]
async fn unaccepted_credential_kind_cannot_read_courses() {
    let app = TestApp::with(|builder| builder.accept([CredentialKind::ApiKey])).await;
    // The kind is checked before the scope.
    for scopes in ["read:courses", "read:profile"] {
        let (token, _) = app.credential(CredentialKind::OAuth, OWNER, scopes, None).await;
        for path in ["/api/v1/courses", "/api/v1/courses/c"] {
            let response = app.get(&token, path).await;
            assert_eq!(response.failure(403, "insufficient_scope"), json!({ "reason": "unsupported_credential" }));
        }
        for path in ["/api/v1/me", "/api/v1/openapi.json"] {
            assert_eq!(app.get(&token, path).await.status, 200);
        }
    }
}
