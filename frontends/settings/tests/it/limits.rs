//! Limits on sizes, numbers and rates.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::NewCredential;
use catalogue_core::async_trait;
use catalogue_core::auth::Scopes;
use catalogue_core::limit::{Acquired, RateLimit, RateLimitKey, RateLimiter};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_settings::Owner;
use http_body::{Body, Frame};
use serde_json::json;

use crate::app::{App, DAY, Key, TestResponse, form, json_request, limiter, new_key};

#[tokio::test]
async fn body_over_16_kib_returns_413() {
    let app = App::new().await;
    let exact = "token=".to_owned() + &"a".repeat((16 << 10) - 6);
    for (body, status) in [(exact.clone(), 200), (exact + "a", 413)] {
        let mut request = form("/settings/check", &[]);
        *request.body_mut() = body;
        assert_eq!(app.call(request).await.status, status);
    }
}

/// A body that yields one frame and then `next`.
struct BrokenBody {
    first: Option<Bytes>,
    next: Poll<Option<Result<Frame<Bytes>, &'static str>>>,
}

impl Body for BrokenBody {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let first = self.first.take().map(|bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))));
        first.unwrap_or_else(|| mem::replace(&mut self.next, Poll::Pending))
    }
}

#[tokio::test]
async fn incomplete_body_changes_nothing() {
    let (app, key) = App::with_key().await;
    let next = Poll::Ready(Some(Err("gone")));
    let request = form(&key.page("/name"), &[("name", "other")]);
    let request = request.map(|body| BrokenBody { first: Some(body.into()), next });
    let response = TestResponse::of(app.settings.call_as(Owner::new("anna".into()), request).await);
    assert_eq!(response.status, 400);
    response.shows("The request was incomplete. Nothing has changed.");
    assert_eq!(app.keys().await[0]["name"], "partner");
}

#[tokio::test]
async fn changes_are_rate_limited_by_account() {
    let app = App::with(|builder| builder.rate_limiter(limiter(3))).await;
    let key = app.make("one").await;
    app.make("two").await;
    assert_eq!(app.send("PATCH", &key.api(""), &json!({ "name": "first" })).await.status, 200);
    let refused = app.create("three").await;
    assert_eq!(refused.failure(), (429, "rate_limited".to_owned(), None));
    let seconds = refused.json()["error"]["details"]["retryAfterSeconds"].to_string();
    assert_eq!(refused.header("retry-after"), Some(&*seconds));
    let page = app.post("/settings/check", &[("token", "a")]).await;
    assert_eq!(page.status, 429);
    page.shows("Too many requests. Try again in ");
    assert_eq!(app.send("PATCH", &key.api(""), &json!({ "name": "a" })).await.status, 429);
    assert_eq!(app.post(&key.page("/name"), &[("name", "a")]).await.status, 429);
    let names: Vec<_> = app.keys().await.iter().map(|key| key["name"].clone()).collect();
    assert!(names.len() == 2 && names.contains(&json!("first")), "{names:?}");
    let others = json_request("POST", "/settings/api/keys", &new_key("three"));
    assert_eq!(app.call_as("bert", others).await.status, 201);
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
        let limiter = RefusingLimiter(Duration::from_millis(milliseconds));
        let app = App::with(|builder| builder.rate_limiter(limiter)).await;
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
    let refused = app.create("one more").await;
    assert_eq!(refused.failure(), (409, "invalid_request".to_owned(), Some("too_many".to_owned())));
    let refused = app.send("POST", &first.api("/rotate"), &json!({ "overlapSeconds": DAY })).await;
    assert_eq!(refused.reason(), "too_many");
    // A leaked key can be replaced immediately even above the limit, because the number of valid keys stays the same.
    let (_, more) = NewCredential::api_key("anna".into(), "more", Scopes::from_names(["read:courses"]));
    app.storage.memory.create_key(&more, &Actor::OPERATOR).await.unwrap();
    let rotated = app.send("POST", &first.api("/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(rotated.status, 201);
    assert_eq!(app.create("one more").await.reason(), "too_many");
    for id in [&*Key::of(rotated.data()).id, &more.record.identity.credential_id] {
        app.send("POST", &format!("/settings/api/keys/{id}/revoke"), &json!({})).await;
    }
    assert_eq!(app.create("one more").await.status, 201);
}

#[tokio::test]
async fn daily_limit_of_200_keys_includes_revoked_keys() {
    let app = App::new().await;
    for _ in 0..200 {
        app.send("POST", &app.make("a").await.api("/revoke"), &json!({})).await;
    }
    app.clock.advance(60);
    let refused = app.create("a").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some(&*(DAY - 60).to_string())));
    let others = json_request("POST", "/settings/api/keys", &new_key("a"));
    assert_eq!(app.call_as("bert", others).await.status, 201);
    app.clock.advance(DAY - 60);
    assert_eq!(app.create("a").await.status, 201);
}

#[tokio::test]
async fn oauth_tokens_do_not_count_as_keys() {
    let app = App::new().await;
    for _ in 0..200 {
        let (_, mut token) = NewCredential::oauth_token("anna".into(), Scopes::from_names(["read:courses"]));
        token.record.created_at = app.clock.now();
        app.storage.memory.create_key(&token, &Actor::OPERATOR).await.unwrap();
    }
    app.make("partner").await;
    let token = Key::of(app.keys().await.into_iter().find(|key| key["kind"] == "oauth").unwrap());
    let refused = app.send("POST", &token.api("/rotate"), &json!({ "overlapSeconds": 0 })).await;
    assert_eq!(refused.failure(), (409, "invalid_request".to_owned(), Some("not_rotatable".to_owned())));
}

#[tokio::test]
async fn at_most_64_requests_run_concurrently() {
    let app = App::new().await;
    let mut waiting = Vec::new();
    for _ in 0..64 {
        let request = form("/settings/check", &[]).map(|_| BrokenBody { first: None, next: Poll::Pending });
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
