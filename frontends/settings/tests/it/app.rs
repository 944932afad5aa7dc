//! [`App`]: settings over a storage with two accounts, with a clock that tests set, and parsed responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::{AccountId, Timestamp};
use catalogue_settings::{DeveloperSettings, Owner, RequestLabels, SettingsBuilder};
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::host::HostStorage;

pub(crate) const DAY: u64 = 24 * 60 * 60;

/// Settings with their storage and clock.
pub(crate) struct App {
    pub(crate) storage: HostStorage,
    pub(crate) settings: DeveloperSettings,
    pub(crate) clock: Clock,
}

/// A clock that only tests advance.
#[derive(Clone)]
pub(crate) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(Timestamp::parse("2026-11-22T04:40:00Z").unwrap().as_microseconds())))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_microseconds(self.0.load(Ordering::Relaxed)).unwrap()
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(i64::try_from(seconds).unwrap() * 1_000_000, Ordering::Relaxed);
    }
}

impl App {
    pub(crate) async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    /// Creates settings of which `change` configures the builder.
    pub(crate) async fn with(change: impl FnOnce(SettingsBuilder) -> SettingsBuilder) -> Self {
        Self::over(HostStorage::new().await, change)
    }

    pub(crate) fn over(storage: HostStorage, change: impl FnOnce(SettingsBuilder) -> SettingsBuilder) -> Self {
        let clock = Clock::new();
        let now = clock.clone();
        let builder = DeveloperSettings::builder(storage.calls.clone()).clock(move || now.now());
        let settings = change(builder.rate_limiter(limiter(1_000_000))).build().unwrap();
        Self { storage, settings, clock }
    }

    /// Creates settings with a key that is called `partner`.
    pub(crate) async fn with_key() -> (Self, Key) {
        let app = Self::new().await;
        let key = app.make("partner").await;
        (app, key)
    }

    /// Sends a request as the owner of the account `anna`.
    pub(crate) async fn call(&self, request: Request<String>) -> TestResponse {
        self.call_as("anna", request).await
    }

    pub(crate) async fn call_as(&self, account: &str, request: Request<String>) -> TestResponse {
        self.call_by(Owner::new(AccountId::new(account)), request).await
    }

    pub(crate) async fn call_by(&self, owner: Owner, request: Request<String>) -> TestResponse {
        TestResponse::of(self.settings.call_as(owner, with_body(request)).await)
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.call(get(path)).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.call(form(path, fields)).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        self.call(json_request(method, path, body)).await
    }

    /// Requests a key that never expires with the JSON API.
    pub(crate) async fn create(&self, name: &str) -> TestResponse {
        self.send("POST", "/settings/api/keys", &new_key(name)).await
    }

    pub(crate) async fn make(&self, name: &str) -> Key {
        let response = self.create(name).await;
        assert_eq!(response.status, 201, "{}", response.body);
        Key::of(response.data())
    }

    /// Returns the listed keys, newest first.
    pub(crate) async fn keys(&self) -> Vec<Value> {
        self.get("/settings/api/keys").await.data().as_array().unwrap().clone()
    }

    /// Returns the nonce of the form on a page.
    pub(crate) async fn nonce(&self, page: &str) -> String {
        let page = self.get(page).await;
        page.body.split("name=\"nonce\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// Records a use of a key of `anna` at the current time.
    pub(crate) async fn record_use(&self, key: &Key) {
        let (account, credential_id) = (AccountId::new("anna"), (&*key.id).into());
        let used = CredentialUse { account, credential_id, at: self.clock.now() };
        self.storage.memory.record_uses(&[used]).await.unwrap();
    }
}

/// A key that a test has created.
pub(crate) struct Key {
    pub(crate) id: String,
    /// Empty if the response did not contain it.
    pub(crate) token: String,
    /// The response.
    pub(crate) data: Value,
}

impl Key {
    pub(crate) fn of(data: Value) -> Self {
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        Self { id: text("id"), token: text("token"), data }
    }

    /// Returns the path of the key's page, or of one below it.
    pub(crate) fn page(&self, below: &str) -> String {
        format!("/settings/keys/{}{below}", self.id)
    }

    /// Returns the path of the key in the JSON API, or of an action.
    pub(crate) fn api(&self, below: &str) -> String {
        format!("/settings/api/keys/{}{below}", self.id)
    }
}

/// Returns the JSON request for a key that never expires.
pub(crate) fn new_key(name: &str) -> Value {
    json!({ "name": name, "scopes": ["read:courses"], "expiresAt": null })
}

/// Returns a rate limiter that allows a number of changes per minute.
pub(crate) fn limiter(changes: u32) -> LocalRateLimiter {
    LocalRateLimiter::new(RateLimit::new(changes, Duration::from_secs(60)).unwrap())
}

pub(crate) fn with_body(request: Request<String>) -> Request<Full<Bytes>> {
    request.map(|body| Full::new(Bytes::from(body)))
}

pub(crate) fn get(path: &str) -> Request<String> {
    Request::get(path).body(String::new()).unwrap()
}

/// Returns the request that a browser sends for a form of these pages.
pub(crate) fn form(path: &str, fields: &[(&str, &str)]) -> Request<String> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    request.header("sec-fetch-site", "same-origin").body(body).unwrap()
}

pub(crate) fn json_request(method: &str, path: &str, body: &Value) -> Request<String> {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    request.body(body.to_string()).unwrap()
}

/// A response, split into its parts.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: String,
    pub(crate) labels: RequestLabels,
}

impl TestResponse {
    /// Splits a response. Checks the headers that every response must have, so each request of these tests checks them.
    pub(crate) fn of(response: Response<Bytes>) -> Self {
        crate::headers::check(&response);
        let (head, body) = response.into_parts();
        let labels = head.extensions.get::<RequestLabels>().expect("each response has labels").clone();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Self { status: head.status.as_u16(), headers: head.headers, body, labels }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// Returns the reason of a failure.
    pub(crate) fn reason(&self) -> String {
        self.failure().2.unwrap()
    }

    /// Returns the status, code and reason of a failure.
    pub(crate) fn failure(&self) -> (u16, String, Option<String>) {
        let error = &self.json()["error"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        (self.status, text(&error["code"]).unwrap(), text(&error["details"]["reason"]))
    }

    /// Returns the token on the page of a new key.
    pub(crate) fn token(&self) -> String {
        let (_, field) = self.body.split_once("<textarea").expect("a key is shown");
        field.split(['>', '<']).nth(1).unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        assert!(self.body.contains(text), "{text:?} is not in {}", self.body);
    }

    #[track_caller]
    pub(crate) fn hides(&self, text: &str) {
        assert!(!self.body.contains(text), "{text:?} is in {}", self.body);
    }
}
