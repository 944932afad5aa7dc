//! Requests to every operation that together are answered in every way that the document describes.

use std::time::Duration;

use catalogue_core::auth::CredentialKind;
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Catalogue, Timestamp};
use http::{Method, Request};

use super::document::{DOCUMENT, Operation};
use crate::app::{BASE, OWNER, TestApp, TestResponse, ask, course};
use crate::failures::{FailingStorage, FailureMode};

/// An operation and how it answered.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) operation: &'static Operation,
    pub(super) response: TestResponse,
}

/// The catalogues that are asked, and the tokens to ask them with.
struct Stage {
    usual: TestApp,
    /// Accepts API keys for courses, and no OAuth tokens.
    choosy: TestApp,
    /// Has no place for a request.
    crowded: TestApp,
    /// Answers each credential once a minute.
    limited: TestApp,
    /// Cannot reach its storage.
    failing: Catalogue,
    /// Good for every operation.
    token: String,
    profile_token: String,
    expired_token: String,
    revoked_token: String,
    oauth_token: String,
    /// Points at the second page.
    cursor: String,
}

/// Asks every operation in every way, the same ways for all that the table may get.
pub(super) async fn play() -> Vec<Played> {
    let stage = Stage::set().await;
    let mut played = Vec::new();
    for operation in &DOCUMENT.operations {
        // Requests with parameters that an operation does not know are further good ones.
        for query in stage.queries() {
            let response = stage.usual.get(&stage.token, &stage.target(operation, "c", &query)).await;
            played.push(Played { operation, response });
        }
        let responses = stage.refusals(operation).await;
        played.extend(responses.into_iter().map(|response| Played { operation, response }));
    }
    played
}

impl Stage {
    async fn set() -> Self {
        let usual = TestApp::new().await;
        usual.put([course("b", 0), course("c", 1)]).await;
        let token = usual.key(OWNER, "read:profile read:courses").await;
        let first = usual.get(&token, "/api/v1/courses?limit=1").await.json();
        let choosy = TestApp::with(|builder| builder.accept([CredentialKind::ApiKey])).await;
        let (revoked_token, revoked) = usual.credential(CredentialKind::ApiKey, OWNER, "read:courses", None).await;
        usual
            .storage
            .revoke_key(&AccountId::new(OWNER), &revoked, Timestamp::now(), &Actor::OPERATOR)
            .await
            .unwrap()
            .unwrap();
        let expiry = Some(Timestamp::now());
        Self {
            crowded: TestApp::with(|builder| builder.max_in_flight(0)).await,
            limited: Self::limited().await,
            failing: Catalogue::builder(MemoryStorage::new(), FailingStorage(FailureMode::Error)).build().unwrap(),
            profile_token: usual.key(OWNER, "read:profile").await,
            expired_token: usual.credential(CredentialKind::ApiKey, OWNER, "read:courses", expiry).await.0,
            oauth_token: choosy.credential(CredentialKind::OAuth, OWNER, "read:courses", None).await.0,
            cursor: first["meta"]["nextCursor"].as_str().unwrap().to_owned(),
            usual,
            choosy,
            token,
            revoked_token,
        }
    }

    async fn limited() -> TestApp {
        let once = RateLimit::new(1, Duration::from_secs(60)).unwrap();
        let app = TestApp::with(|builder| builder.rate_limiter(LocalRateLimiter::new(once))).await;
        app.put([course("c", 0)]).await;
        app
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

    /// Requests the operation's URL in every way that does not lead to its body.
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
            self.choosy.get(&self.oauth_token, target).await,
            self.usual.send(Method::POST, target, &[authorized]).await,
            self.crowded.send(Method::GET, target, &[authorized]).await,
            self.limited.get(&limited_token, target).await,
            self.limited.get(&limited_token, target).await,
            ask(&self.failing, BASE, failing).await,
        ]
    }
}
