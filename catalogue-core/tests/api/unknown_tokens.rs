//! Unknown tokens are counted by client address, before the look-up (decision A2).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::auth::{Authenticator, BearerToken, Identity, Refusal, Scopes, Verdict};
use catalogue_core::limit::ClientAddress;
use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Catalogue, async_trait};
use http::Request;
use serde_json::json;

use crate::app::{BASE, TestResponse, ask};
use crate::clock::Clock;

const HERE: &str = "192.0.2.1";

/// Knows `good` tokens by their beginning until it is told otherwise, and counts how often it was asked.
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
    /// A door where each address may try so many unknown tokens a minute.
    fn new(attempts: u32) -> Self {
        let (authenticator, clock) = (Arc::<CountingAuthenticator>::default(), Clock::new());
        let builder = Catalogue::builder(MemoryStorage::new(), Arc::clone(&authenticator));
        Self { catalogue: builder.rate_limiter(clock.limiter(attempts, 60)).build().unwrap(), authenticator, clock }
    }

    async fn ask(&self, address: Option<&str>, token: &str) -> TestResponse {
        let mut request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
        if let Some(address) = address {
            request = request.extension(ClientAddress(address.parse().unwrap()));
        }
        ask(&self.catalogue, BASE, request.body(()).unwrap()).await
    }

    async fn status(&self, address: &str, token: &str) -> u16 {
        self.ask(Some(address), token).await.status.as_u16()
    }

    fn calls(&self) -> usize {
        self.authenticator.calls.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn beyond_the_limit_nothing_is_looked_up() {
    let app = LimitedApp::new(3);
    for number in 0..3 {
        let refused = app.ask(Some(HERE), &format!("guess{number}")).await;
        refused.failure(401, "unauthorized");
        assert_eq!((refused.header("ratelimit"), refused.header("ratelimit-policy")), (None, None));
    }
    app.clock.forward(20_000);
    for _ in 0..10 {
        let refused = app.ask(Some(HERE), "guess").await;
        assert_eq!(refused.failure(429, "rate_limited"), json!({ "retryAfterSeconds": 40 }));
        assert_eq!(refused.header("retry-after"), Some("40"));
        assert_eq!(refused.header("ratelimit-policy"), Some(r#""default";q=3;w=60"#));
        assert_eq!(refused.header("ratelimit"), Some(r#""default";r=0;t=40"#));
    }
    assert_eq!(app.calls(), 3);
    app.clock.forward(40_000);
    assert_eq!((app.status(HERE, "guess").await, app.calls()), (401, 4));
}

#[tokio::test]
async fn addresses_have_allowances_of_their_own_and_ipv6_ones_share_64_bits() {
    let app = LimitedApp::new(1);
    for (address, status) in [
        (HERE, 401),
        (HERE, 429),
        ("::ffff:192.0.2.1", 429),
        ("192.0.2.2", 401),
        ("2001:db8::1", 401),
        ("2001:db8::ffff:0:0:2", 429),
        ("2001:db8:0:1::1", 401),
    ] {
        assert_eq!(app.status(address, "guess").await, status, "{address}");
    }
}

#[tokio::test]
async fn without_an_address_nothing_is_counted_by_it() {
    let app = LimitedApp::new(1);
    for _ in 0..10 {
        assert_eq!(app.ask(None, "guess").await.status, 401);
    }
    assert_eq!(app.status(HERE, "guess").await, 401);
}

#[tokio::test]
async fn no_token_is_no_attempt() {
    let app = LimitedApp::new(1);
    for token in ["", "  ", ""] {
        assert_eq!(app.status(HERE, token).await, 401, "{token}");
    }
    assert_eq!([app.status(HERE, "guess").await, app.status(HERE, "guess").await], [401, 429]);
}

#[tokio::test]
async fn a_malformed_token_is_an_unknown_one() {
    for token in ["not a token", "====", "a=b", "a,b"] {
        let app = LimitedApp::new(2);
        for _ in 0..2 {
            assert_eq!(app.ask(Some(HERE), token).await.failure(401, "unauthorized"), json!({ "reason": "invalid" }));
        }
        assert_eq!(app.status(HERE, token).await, 429, "{token}");
        assert_eq!(app.status(HERE, "guess").await, 429, "{token}");
        assert_eq!((app.status("192.0.2.2", token).await, app.calls()), (401, 0), "{token}");
        assert_eq!(app.ask(None, token).await.status, 401, "{token}");
    }
}

#[tokio::test]
async fn good_tokens_cost_an_address_nothing() {
    let app = LimitedApp::new(2);
    assert_eq!(app.status(HERE, "guess").await, 401);
    for number in 0..10 {
        assert_eq!(app.status(HERE, &format!("good{number}")).await, 200, "{number}");
    }
    assert_eq!([app.status(HERE, "guess").await, app.status(HERE, "guess").await], [401, 429]);
}

/// A good client beside an attacker behind one address goes on; one that was never here has to wait.
#[tokio::test]
async fn a_token_that_was_accepted_passes_where_the_allowance_is_used_up() {
    let app = LimitedApp::new(2);
    assert_eq!(app.status(HERE, "good").await, 200);
    assert_eq!([app.status(HERE, "a").await, app.status(HERE, "b").await], [401, 401]);
    assert_eq!(app.status(HERE, "c").await, 429);
    assert_eq!(app.status(HERE, "good").await, 200);
    assert_eq!(app.status(HERE, "good-too").await, 429);
    assert_eq!(app.status("192.0.2.2", "good-too").await, 200);
    assert_eq!(app.status(HERE, "good-too").await, 200);
}

/// Its own limit is another matter.
#[tokio::test]
async fn a_token_that_was_accepted_has_the_limit_of_its_credential() {
    let app = LimitedApp::new(2);
    for status in [200, 200, 429] {
        assert_eq!(app.status(HERE, "good").await, status);
    }
    assert_eq!(app.status(HERE, "guess").await, 401);
}

#[tokio::test]
async fn a_token_that_is_refused_is_known_no_more() {
    let app = LimitedApp::new(1);
    assert_eq!(app.status(HERE, "good").await, 200);
    assert_eq!([app.status(HERE, "guess").await, app.status(HERE, "guess").await], [401, 429]);
    app.authenticator.revoked.store(1, Ordering::Relaxed);
    let calls = app.calls();
    assert_eq!(app.ask(Some(HERE), "good").await.failure(401, "unauthorized"), json!({ "reason": "revoked" }));
    assert_eq!(app.calls(), calls + 1);
    assert_eq!((app.status(HERE, "good").await, app.calls()), (429, calls + 1));
}

/// A false refusal would make clients throw good keys away (decision A19), and so would a false suspicion.
#[tokio::test]
async fn what_cannot_be_looked_up_is_no_unknown_token() {
    let app = LimitedApp::new(1);
    for _ in 0..5 {
        app.ask(Some(HERE), "unlucky").await.failure(500, "internal_error");
    }
    assert_eq!([app.status(HERE, "guess").await, app.status(HERE, "guess").await], [401, 429]);
}
