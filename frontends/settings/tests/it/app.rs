//! [`App`]: settings over a storage with two accounts, with a clock that tests set, and parsed responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage, CredentialUse};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{CredentialStorage, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_settings::{DeveloperSettings, Owner, RequestLabels, SettingsBuilder};
use http::{Request, Response};
use http_body_util::Full;
use serde_json::Value;

pub(crate) const DAY: u64 = 24 * 60 * 60;

/// Settings with their storage and clock.
pub(crate) struct App {
    pub(crate) storage: MemoryStorage,
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
        let storage = storage().await;
        Self::over(storage.clone(), storage, |builder| builder)
    }

    /// Creates settings for the keys in `keys`; `change` configures the builder.
    pub(crate) fn over(
        storage: MemoryStorage,
        keys: impl KeyStorage + CredentialStorage,
        change: impl FnOnce(SettingsBuilder) -> SettingsBuilder,
    ) -> Self {
        let clock = Clock::new();
        let now = clock.clone();
        let builder = DeveloperSettings::builder(keys).clock(move || now.now()).rate_limiter(unlimited());
        let settings = change(builder).build().unwrap();
        Self { storage, settings, clock }
    }

    /// Sends a request as the owner of the account `anna`.
    pub(crate) async fn call(&self, request: Request<String>) -> TestResponse {
        self.call_as("anna", request).await
    }

    pub(crate) async fn call_as(&self, account: &str, request: Request<String>) -> TestResponse {
        let owner = Owner::new(AccountId::new(account));
        TestResponse::of(self.settings.call_as(owner, request.map(|body| Full::new(Bytes::from(body)))).await)
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.call(get(path)).await
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> TestResponse {
        self.call(form(path, fields)).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        self.call(json(method, path, body)).await
    }

    /// Creates a key with the JSON API, and returns it with its token.
    pub(crate) async fn make(&self, name: &str) -> Value {
        let body = serde_json::json!({ "name": name, "scopes": ["read:courses"], "expiresAt": null });
        let response = self.send("POST", "/settings/api/keys", &body).await;
        assert_eq!(response.status, 201, "{}", response.body);
        response.data()
    }

    /// Returns the nonce of the form on a page.
    pub(crate) async fn nonce(&self, page: &str) -> String {
        let page = self.get(page).await;
        page.body.split("name=\"nonce\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// Records a use of a key at the current time.
    pub(crate) async fn record_use(&self, account: &str, key: &Value) {
        let id = key["id"].as_str().unwrap();
        let used = CredentialUse { account: AccountId::new(account), credential_id: id.into(), at: self.clock.now() };
        self.storage.record_uses(&[used]).await.unwrap();
    }
}

/// Returns a storage with the accounts `anna` and `bert`.
pub(crate) async fn storage() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let mut import = storage.begin_import().await.unwrap();
    for id in ["anna", "bert"] {
        let account = Account { id: AccountId::new(id), name: format!("School of {id}"), email: String::new() };
        import.put_account(&account).await.unwrap();
    }
    import.commit().await.unwrap();
    storage
}

/// Returns a rate limiter whose limit no test reaches.
pub(crate) fn unlimited() -> LocalRateLimiter {
    LocalRateLimiter::new(RateLimit::new(1_000_000, Duration::from_secs(60)).unwrap())
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

pub(crate) fn json(method: &str, path: &str, body: &Value) -> Request<String> {
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

    /// Returns the status, code and reason of a failure.
    pub(crate) fn failure(&self) -> (u16, String, Option<String>) {
        let error = &self.json()["error"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        (self.status, text(&error["code"]).unwrap(), text(&error["details"]["reason"]))
    }

    /// Returns the token on the page of a new key.
    pub(crate) fn token(&self) -> String {
        let field = self.body.split("id=\"key\" value=\"").nth(1).expect("a key is shown");
        field.split('"').next().unwrap().to_owned()
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
