//! Requests to every operation that together cause all responses that the document describes.

use catalogue_core::auth::CredentialKind;
use catalogue_core::{Catalogue, Timestamp};
use http::{Method, Request};

use super::document::{DOCUMENT, Operation};
use crate::app::{BASE, OWNER, TestApp, TestResponse, course, send};
use crate::clock::Clock;
use crate::failures::{FailureMode, failing_catalogue};

/// An operation and its response.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) operation: &'static Operation,
    pub(super) response: TestResponse,
}

/// The catalogues, and tokens for them.
struct Stage {
    usual: TestApp,
    /// Accepts API keys for courses, and no OAuth tokens.
    keys_only: TestApp,
    /// Has no capacity for a request.
    full: TestApp,
    /// Allows each credential one request a minute.
    limited: TestApp,
    /// Cannot reach its storage.
    failing: Catalogue,
    /// Valid for every operation.
    token: String,
    profile_token: String,
    expired_token: String,
    revoked_token: String,
    oauth_token: String,
    /// Points at the second page.
    cursor: String,
}

/// Sends all requests to every operation, the same ones to each.
pub(super) async fn exchanges() -> Vec<Exchange> {
    let stage = Stage::new().await;
    let mut exchanges = Vec::new();
    for operation in &DOCUMENT.operations {
        // Only the list reads these parameters; other operations ignore them and return their usual response.
        for query in stage.queries() {
            let response = stage.usual.get(&stage.token, &stage.target(operation, "c", &query)).await;
            exchanges.push(Exchange { operation, response });
        }
        let responses = stage.refusals(operation).await;
        exchanges.extend(responses.into_iter().map(|response| Exchange { operation, response }));
    }
    exchanges
}

impl Stage {
    async fn new() -> Self {
        let usual = TestApp::new().await;
        usual.put([course("b", 0), course("c", 1)]).await;
        let token = usual.key(OWNER, "read:profile read:courses").await;
        let first = usual.get(&token, "/api/v1/courses?limit=1").await.json();
        let keys_only = TestApp::with(|builder| builder.accept([CredentialKind::ApiKey])).await;
        let (revoked_token, revoked) = usual.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
        usual.revoke(&revoked).await;
        let limited = TestApp::with(|builder| builder.rate_limiter(Clock::new().limiter(1, 60))).await;
        limited.put([course("c", 0)]).await;
        let expiry = Some(Timestamp::now());
        Self {
            full: TestApp::with(|builder| builder.max_in_flight(0)).await,
            limited,
            failing: failing_catalogue(FailureMode::Error),
            profile_token: usual.key(OWNER, "read:profile").await,
            expired_token: usual.credential(CredentialKind::ApiKey, OWNER, "read:courses", expiry).await.0,
            oauth_token: keys_only.credential(CredentialKind::OAuth, OWNER, "read:courses", None).await.0,
            cursor: first["meta"]["nextCursor"].as_str().unwrap().to_owned(),
            usual,
            keys_only,
            token,
            revoked_token,
        }
    }

    fn queries(&self) -> Vec<String> {
        let cursor = &self.cursor;
        vec![
            String::new(),
            "limit=1".to_owned(),
            "limit=0".to_owned(),
            "limit=x".to_owned(),
            "limit=1&limit=1".to_owned(),
            format!("cursor={cursor}"),
            format!("cursor={cursor}x"),
            format!("cursor={cursor}&cursor={cursor}"),
        ]
    }

    fn target(&self, operation: &Operation, slug: &str, query: &str) -> String {
        format!("{BASE}{}?{query}", operation.path.replace("{slug}", slug))
    }

    /// Sends the requests that cause the operation's 304 and failures. An operation that lacks a failure returns a 200.
    async fn refusals(&self, operation: &Operation) -> Vec<TestResponse> {
        let target = &self.target(operation, "c", "");
        let bearer = format!("Bearer {}", self.token);
        let authorized = ("authorization", &*bearer);
        let limited_token = self.limited.key(OWNER, "read:courses").await;
        let failing = Request::get(target).header("authorization", &bearer).body(()).unwrap();
        vec![
            self.usual.send(Method::GET, target, &[authorized, ("if-none-match", "*")]).await,
            self.usual.get(&self.token, &self.target(operation, "nobody", "")).await,
            self.usual.send(Method::GET, target, &[]).await,
            self.usual.get("unknown", target).await,
            self.usual.get(&self.expired_token, target).await,
            self.usual.get(&self.revoked_token, target).await,
            self.usual.get(&self.profile_token, target).await,
            self.keys_only.get(&self.oauth_token, target).await,
            self.usual.send(Method::POST, target, &[authorized]).await,
            self.full.send(Method::GET, target, &[authorized]).await,
            self.limited.get(&limited_token, target).await,
            self.limited.get(&limited_token, target).await,
            send(&self.failing, BASE, failing).await,
        ]
    }
}
