//! Limits on sizes, numbers and rates.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::NewCredential;
use catalogue_core::async_trait;
use catalogue_core::auth::Scopes;
use catalogue_core::limit::{Acquired, LocalRateLimiter, RateLimit, RateLimitKey, RateLimiter};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_settings::Owner;
use http::Request;
use http_body::{Body, Frame};
use serde_json::json;

use crate::app::{App, DAY, TestResponse, storage};

#[tokio::test]
async fn body_over_16_kib_returns_413() {
    let app = App::new().await;
    let exact = "token=".to_owned() + &"a".repeat((16 << 10) - 6);
    for (body, status) in [(exact.clone(), 200), (exact + "a", 413)] {
        let mut request = crate::app::form("/settings/check", &[]);
        *request.body_mut() = body;
        assert_eq!(app.call(request).await.status, status);
    }
}

/// A body that fails after one frame.
struct BrokenBody(Option<Bytes>);

impl Body for BrokenBody {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready(Some(self.0.take().map(Frame::data).ok_or("gone")))
    }
}

#[tokio::test]
async fn incomplete_body_changes_nothing() {
    let app = App::new().await;
    let key = app.make("partner").await;
    let path = format!("/settings/keys/{}/name", key["id"].as_str().unwrap());
    let request = crate::app::form(&path, &[("name", "other")]).map(|body| BrokenBody(Some(body.into())));
    let response = TestResponse::of(app.settings.call_as(Owner::new("anna".into()), request).await);
    assert_eq!(response.status, 400);
    response.shows("The request was incomplete. Nothing has changed.");
    assert_eq!(app.get("/settings/api/keys").await.data()[0]["name"], "partner");
}

#[tokio::test]
async fn changes_are_rate_limited_by_account() {
    let limiter = LocalRateLimiter::new(RateLimit::new(2, Duration::from_secs(60)).unwrap());
    let storage = storage().await;
    let app = App::over(storage.clone(), storage, |builder| builder.rate_limiter(limiter));
    app.make("one").await;
    app.make("two").await;
    let body = json!({ "name": "three", "scopes": ["read:courses"], "expiresAt": null });
    let refused = app.send("POST", "/settings/api/keys", &body).await;
    assert_eq!(refused.failure(), (429, "rate_limited".to_owned(), None));
    let seconds = refused.json()["error"]["details"]["retryAfterSeconds"].to_string();
    assert_eq!(refused.header("retry-after"), Some(&*seconds));
    let page = app.post("/settings/check", &[("token", "a")]).await;
    assert_eq!(page.status, 429);
    page.shows("Too many requests. Try again in ");
    assert_eq!(app.get("/settings/api/keys").await.data().as_array().unwrap().len(), 2);
    assert_eq!(app.call_as("bert", crate::app::json("POST", "/settings/api/keys", &body)).await.status, 201);
}

#[tokio::test]
async fn rename_counts_as_change() {
    let limiter = LocalRateLimiter::new(RateLimit::new(2, Duration::from_secs(60)).unwrap());
    let storage = storage().await;
    let app = App::over(storage.clone(), storage, |builder| builder.rate_limiter(limiter));
    let id = app.make("one").await["id"].as_str().unwrap().to_owned();
    for (name, status) in [("two", 200), ("three", 429)] {
        let renamed = app.send("PATCH", &format!("/settings/api/keys/{id}"), &json!({ "name": name })).await;
        assert_eq!(renamed.status, status);
    }
    assert_eq!(app.post(&format!("/settings/keys/{id}/name"), &[("name", "four")]).await.status, 429);
}

/// A rate limiter that refuses each change for this duration.
#[derive(Debug)]
struct RefusingLimiter(Duration);

#[async_trait]
impl RateLimiter for RefusingLimiter {
    fn limit(&self) -> RateLimit {
        RateLimit::new(1, Duration::from_secs(60)).unwrap()
    }
    async fn acquire(&self, _: RateLimitKey<'_>) -> Acquired {
        Acquired::Limited { resets_in: self.0 }
    }
    async fn refund(&self, _: RateLimitKey<'_>, _: u64) {}
}

#[tokio::test]
async fn retry_after_is_rounded_up_to_seconds() {
    for (milliseconds, seconds) in [(0, "1"), (1, "1"), (2000, "2"), (2001, "3")] {
        let (storage, limiter) = (storage().await, RefusingLimiter(Duration::from_millis(milliseconds)));
        let app = App::over(storage.clone(), storage, |builder| builder.rate_limiter(limiter));
        let refused = app.post("/settings/check", &[("token", "a")]).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some(seconds)));
    }
}

#[tokio::test]
async fn account_has_at_most_100_valid_keys() {
    let app = App::new().await;
    let first = app.make("0").await;
    for number in 1..100 {
        app.make(&number.to_string()).await;
    }
    let body = json!({ "name": "one more", "scopes": ["read:courses"], "expiresAt": null });
    let refused = app.send("POST", "/settings/api/keys", &body).await;
    assert_eq!(refused.failure(), (409, "invalid_request".to_owned(), Some("too_many".to_owned())));
    let path = format!("/settings/api/keys/{}", first["id"].as_str().unwrap());
    let refused = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": DAY })).await;
    assert_eq!(refused.failure().2.unwrap(), "too_many");
    // A leaked key can be replaced immediately even above the limit, because the number of valid keys stays the same.
    let (_, more) = NewCredential::api_key("anna".into(), "more", Scopes::from_names(["read:courses"]));
    app.storage.create_key(&more, &Actor::OPERATOR).await.unwrap();
    let rotated = app.send("POST", &format!("{path}/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(rotated.status, 201);
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.failure().2.unwrap(), "too_many");
    for id in [rotated.data()["id"].as_str().unwrap(), &more.record.identity.credential_id] {
        app.send("POST", &format!("/settings/api/keys/{id}/revoke"), &json!({})).await;
    }
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.status, 201);
}

#[tokio::test]
async fn daily_limit_of_200_keys_includes_revoked_keys() {
    let app = App::new().await;
    let body = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null });
    for _ in 0..200 {
        let path = format!("/settings/api/keys/{}/revoke", app.make("a").await["id"].as_str().unwrap());
        app.send("POST", &path, &json!({})).await;
    }
    app.clock.advance(60);
    let refused = app.send("POST", "/settings/api/keys", &body).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some(&*(DAY - 60).to_string())));
    let request = crate::app::json("POST", "/settings/api/keys", &body);
    assert_eq!(app.call_as("bert", request).await.status, 201);
    app.clock.advance(DAY - 60);
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.status, 201);
}

#[tokio::test]
async fn oauth_tokens_do_not_count_as_keys() {
    let app = App::new().await;
    for _ in 0..200 {
        let (_, mut token) = NewCredential::oauth_token("anna".into(), Scopes::from_names(["read:courses"]));
        token.record.created_at = app.clock.now();
        app.storage.create_key(&token, &Actor::OPERATOR).await.unwrap();
    }
    app.make("partner").await;
    let keys = app.get("/settings/api/keys").await.data();
    let token = keys.as_array().unwrap().iter().find(|key| key["kind"] == "oauth").unwrap();
    let path = format!("/settings/api/keys/{}/rotate", token["id"].as_str().unwrap());
    let refused = app.send("POST", &path, &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(refused.failure(), (409, "invalid_request".to_owned(), Some("not_rotatable".to_owned())));
}

/// A body that never ends.
struct PendingBody;

impl Body for PendingBody {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn at_most_64_requests_run_concurrently() {
    let app = Arc::new(App::new().await);
    let mut waiting = Vec::new();
    for _ in 0..64 {
        let request: Request<PendingBody> = crate::app::form("/settings/check", &[]).map(|_| PendingBody);
        let mut response = Box::pin(app.settings.call_as(Owner::new("anna".into()), request));
        std::future::poll_fn(|context| {
            assert!(response.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        waiting.push(response);
    }
    let refused = app.get("/settings").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    waiting.pop();
    assert_eq!(app.get("/settings").await.status, 200);
}
