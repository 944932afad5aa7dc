//! [`World`]: settings of two accounts at a time that stands still, and what holds of every answer.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_settings::{DeveloperSettings, Owner};
use http::{Request, Response};
use http_body_util::Full;

/// A key of `anna`.
pub(super) const KEY: &str = "key_01912345678970008000000000000000";
/// What is asked for begins with that.
pub(super) const ADDRESS: &str = "/settings";

pub(super) struct World {
    pub(super) storage: MemoryStorage,
    pub(super) settings: DeveloperSettings,
}

/// What a future is that waits for nothing.
pub(super) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// The present.
pub(super) fn clock() -> Timestamp {
    Timestamp::parse("2026-11-22T04:40:00Z").unwrap()
}

/// A limiter that no input reaches.
pub(super) fn many() -> LocalRateLimiter {
    LocalRateLimiter::new(RateLimit::new(u32::MAX, Duration::from_secs(1)).unwrap())
}

impl World {
    pub(super) fn new() -> Self {
        let storage = MemoryStorage::new();
        let mut import = now(storage.begin_import()).unwrap();
        for id in ["anna", "bert"] {
            let account = Account { id: AccountId::new(id), name: format!("<fuzz> {id}"), email: String::new() };
            now(import.put_account(&account)).unwrap();
        }
        now(import.commit()).unwrap();
        let (_, mut key) = NewCredential::api_key(AccountId::new("anna"), "old", Scopes::from_names(["read:courses"]));
        (key.record.identity.credential_id, key.record.created_at) = (KEY.into(), clock());
        now(storage.create_key(&key, &Actor::OPERATOR)).unwrap();
        let builder = DeveloperSettings::builder(storage.clone()).clock(clock).rate_limiter(many());
        Self { storage, settings: builder.settings_url(format!("https://a.example{ADDRESS}")).build().unwrap() }
    }

    /// The answer to the owner of `anna`.
    pub(super) fn ask(&self, request: Request<Vec<u8>>) -> Response<Bytes> {
        let request = request.map(|body| Full::new(Bytes::from(body)));
        check(now(self.settings.call_as(Owner::new(AccountId::new("anna")), request)))
    }

    /// The keys of `anna`, newest first.
    pub(super) fn keys(&self) -> Vec<CredentialRecord> {
        now(self.storage.list_keys(&AccountId::new("anna"), clock(), usize::MAX)).unwrap().unwrap()
    }
}

/// What holds of every answer.
pub(super) fn check(response: Response<Bytes>) -> Response<Bytes> {
    let (status, headers) = (response.status(), response.headers());
    assert!(!status.is_server_error(), "{response:?}");
    let one = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().map(|value| value.to_str().expect("answers are visible ASCII"));
        assert!(values.next().is_none(), "{name} came twice");
        value
    };
    assert_eq!((one("cache-control"), one("x-content-type-options")), (Some("no-store"), Some("nosniff")));
    assert!(one("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'; ")));
    assert!(one("x-request-id").is_some() && one("access-control-allow-origin").is_none());
    if let Some(location) = one("location") {
        let below = location.strip_prefix(ADDRESS).expect("nobody is led away from the settings");
        assert!(below.is_empty() || below.starts_with(['/', '?']), "{location}");
        assert!(location.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'), "{location}");
    }
    let body = str::from_utf8(response.body()).expect("answers are text");
    match one("content-type").unwrap_or_default() {
        "application/json" => drop(serde_json::from_str::<serde_json::Value>(body).expect("that is JSON")),
        // Where an input stands, it begins no element and no attribute.
        _ => {
            // After an equals sign the quotation mark begins a value, of which that may be the text.
            let mut before = body.match_indices("\" fuzz=").map(|(at, _)| &body[..at]);
            assert!(!body.contains("<fuzz") && before.all(|before| before.ends_with('=')), "{body}");
        }
    }
    response
}
