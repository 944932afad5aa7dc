//! Unknown tokens, which are counted by client address before the lookup (decision A2).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::auth::{Authenticator, BearerToken, Identity, Refusal, Scopes, Verdict};
use catalogue_core::limit::ClientAddress;
use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, async_trait};
use http::Request;
use serde_json::json;

use crate::app::{BASE, TestResponse, send};
use crate::clock::Clock;

const CLIENT: &str = "192.0.2.1";

/// Accepts tokens that begin with `good` until they are revoked, and counts its calls.
#[derive(Debug, Default)]
struct CountingAuthenticator {
    calls: AtomicUsize,
    revoked: AtomicUsize,
}

#[async_trait]
impl Authenticator for CountingAuthenticator {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if token.expose() == "unlucky" {
            return Err(StorageError::new(StorageErrorKind::Unavailable, "out of reach"));
        }
        if !token.expose().starts_with("good") {
            return Ok(Verdict::Unrecognized);
        }
        if self.revoked.load(Ordering::Relaxed) > 0 {
            return Ok(Verdict::Refused(Refusal::Revoked, None));
        }
        Ok(Verdict::Accepted(Identity::api_key(AccountId::new("acc"), token.expose(), Scopes::default())))
    }
}

struct LimitedApp {
    catalogue: Catalogue,
    authenticator: Arc<CountingAuthenticator>,
    clock: Clock,
}

impl LimitedApp {
    /// Creates an app that lets each address try `attempts` unknown tokens a minute.
    fn new(attempts: u32) -> Self {
        let (authenticator, clock) = (Arc::<CountingAuthenticator>::default(), Clock::new());
        let builder = Catalogue::builder(MemoryStorage::new(), Arc::clone(&authenticator));
        Self { catalogue: builder.rate_limiter(clock.limiter(attempts, 60)).build().unwrap(), authenticator, clock }
    }

    async fn get(&self, address: Option<&str>, token: &str) -> TestResponse {
        let mut request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
        if let Some(address) = address {
            request = request.extension(ClientAddress(address.parse().unwrap()));
        }
        send(&self.catalogue, BASE, request.body(()).unwrap()).await
    }

    async fn status(&self, address: &str, token: &str) -> u16 {
        self.get(Some(address), token).await.status.as_u16()
    }

    fn calls(&self) -> usize {
        self.authenticator.calls.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn tokens_beyond_the_limit_are_not_looked_up() {
    let app = LimitedApp::new(3);
    for number in 0..3 {
        let refused = app.get(Some(CLIENT), &format!("guess{number}")).await;
        refused.failure(401, "unauthorized");
        assert_eq!((refused.header("ratelimit"), refused.header("ratelimit-policy")), (None, None));
    }
    app.clock.advance(20_000);
    for _ in 0..10 {
        let refused = app.get(Some(CLIENT), "guess").await;
        assert_eq!(refused.failure(429, "rate_limited"), json!({ "retryAfterSeconds": 40 }));
        assert_eq!(refused.header("retry-after"), Some("40"));
        assert_eq!(refused.header("ratelimit-policy"), Some(r#""default";q=3;w=60"#));
        assert_eq!(refused.header("ratelimit"), Some(r#""default";r=0;t=40"#));
    }
    assert_eq!(app.calls(), 3);
    app.clock.advance(40_000);
    assert_eq!((app.status(CLIENT, "guess").await, app.calls()), (401, 4));
}

#[tokio::test]
async fn limit_applies_per_ipv4_address_or_ipv6_prefix() {
    let app = LimitedApp::new(1);
    for (address, status) in [
        (CLIENT, 401),
        (CLIENT, 429),
        ("::ffff:192.0.2.1", 429),
        ("192.0.2.2", 401),
        ("2001:db8::1", 401),
        ("2001:db8::ffff:0:0:2", 429),
        ("2001:db8:0:1::1", 401),
        ("::1", 401),
        ("::ffff:ffff:0:1", 429),
    ] {
        assert_eq!(app.status(address, "guess").await, status, "{address}");
    }
}

#[tokio::test]
async fn client_without_address_is_not_limited() {
    let app = LimitedApp::new(1);
    for _ in 0..10 {
        assert_eq!(app.get(None, "guess").await.status, 401);
    }
    assert_eq!(app.status(CLIENT, "guess").await, 401);
}

#[tokio::test]
async fn malformed_token_counts_as_unknown() {
    for token in ["not a token", "====", "a=b", "a,b"] {
        let app = LimitedApp::new(2);
        for _ in 0..2 {
            assert_eq!(app.get(Some(CLIENT), token).await.failure(401, "unauthorized"), json!({ "reason": "invalid" }));
        }
        assert_eq!(app.status(CLIENT, token).await, 429, "{token}");
        assert_eq!(app.status(CLIENT, "guess").await, 429, "{token}");
        assert_eq!((app.status("192.0.2.2", token).await, app.calls()), (401, 0), "{token}");
        assert_eq!(app.get(None, token).await.status, 401, "{token}");
    }
}

#[tokio::test]
async fn only_unknown_tokens_count_against_the_address() {
    const ELSEWHERE: &str = "192.0.2.2";

    let here = |token, status| (CLIENT, token, status);
    for (attempts, requests) in [
        // Missing tokens are not counted.
        (1, vec![here("", 401), here("  ", 401), here("", 401), here("guess", 401), here("guess", 429)]),
        // A failed lookup does not prove that the token is unknown.
        (1, vec![here("unlucky", 500), here("unlucky", 500), here("guess", 401), here("guess", 429)]),
        // Accepted tokens have an allowance each.
        (2, vec![here("guess", 401), here("good0", 200), here("good1", 200), here("good2", 200), here("guess", 401)]),
        (2, vec![here("good", 200), here("good", 200), here("good", 429), here("guess", 401), here("guess", 401)]),
        // A known client behind the same address as an attacker continues; a new one has to wait.
        (
            2,
            vec![
                here("good", 200),
                here("a", 401),
                here("b", 401),
                here("c", 429),
                here("good", 200),
                here("good-too", 429),
                (ELSEWHERE, "good-too", 200),
                here("good-too", 200),
            ],
        ),
    ] {
        let app = LimitedApp::new(attempts);
        for (number, &(address, token, status)) in requests.iter().enumerate() {
            assert_eq!(app.status(address, token).await, status, "{number} of {requests:?}");
        }
    }
}

#[tokio::test]
async fn refused_token_loses_its_exemption() {
    let app = LimitedApp::new(1);
    assert_eq!(app.status(CLIENT, "good").await, 200);
    assert_eq!([app.status(CLIENT, "guess").await, app.status(CLIENT, "guess").await], [401, 429]);
    app.authenticator.revoked.store(1, Ordering::Relaxed);
    let calls = app.calls();
    assert_eq!(app.get(Some(CLIENT), "good").await.failure(401, "unauthorized"), json!({ "reason": "revoked" }));
    assert_eq!(app.calls(), calls + 1);
    assert_eq!((app.status(CLIENT, "good").await, app.calls()), (429, calls + 1));
}
