//! Failure of any one storage call: the response is correct or a 500, and the change is made completely or not at all. When
//! the client has sent the request again, the change has been made exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use catalogue_core::admin::{Account, CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession, NewSignIn, Session,
    SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use http::Request;
use serde_json::{Value, json};

use crate::app::{App, TestResponse, form, get, json as in_json, storage};
use crate::sign_in::{Site, with_cookie};

/// A memory storage with one failing call.
#[derive(Debug)]
struct FailsOnce {
    memory: MemoryStorage,
    /// Number of calls up to and including the failing one.
    calls_left: AtomicUsize,
    failed: AtomicBool,
    /// Whether a failing change takes effect, so that only its result is lost.
    takes_effect: AtomicBool,
}

type Found = Result<Option<CredentialRecord>, StorageError>;

impl FailsOnce {
    fn fails(&self) -> bool {
        let fails = self.calls_left.fetch_sub(1, Ordering::SeqCst) == 1;
        self.failed.fetch_or(fails, Ordering::SeqCst);
        fails
    }

    async fn read<T>(&self, reading: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
        if self.fails() { Err(StorageError::new(StorageErrorKind::Unavailable, "unreachable")) } else { reading.await }
    }

    async fn change<T>(&self, change: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
        if !self.fails() {
            return change.await;
        }
        if !self.takes_effect.load(Ordering::SeqCst) {
            return Err(StorageError::new(StorageErrorKind::Other, "the disk is full"));
        }
        change.await?;
        Err(StorageError::new(StorageErrorKind::OutcomeUnknown, "the result was lost"))
    }
}

#[async_trait]
impl CredentialStorage for FailsOnce {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.read(self.memory.find_credential(digest)).await
    }
}

#[async_trait]
impl KeyStorage for FailsOnce {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.read(self.memory.list_keys(account, now, ended)).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Found {
        self.read(self.memory.find_key(account, id)).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        self.change(self.memory.create_key(key, by)).await
    }

    async fn rename_key(&self, account: &AccountId, id: &str, name: &str, by: &Actor) -> Found {
        self.change(self.memory.rename_key(account, id, name, by)).await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Found {
        self.change(self.memory.rotate_key(account, id, ends_at, successor, by)).await
    }

    async fn revoke_key(&self, account: &AccountId, id: &str, at: Timestamp, by: &Actor) -> Found {
        self.change(self.memory.revoke_key(account, id, at, by)).await
    }

    async fn list_events(&self, account: &AccountId, max: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        self.read(self.memory.list_events(account, max)).await
    }
}

#[async_trait]
impl SignInStorage for FailsOnce {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.change(self.memory.create_link(link, by)).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        self.change(self.memory.exchange_link(link, now, session)).await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.read(self.memory.find_session(digest)).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.change(self.memory.end_session(digest)).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        self.change(self.memory.end_sign_ins(account, by)).await
    }
}

/// Settings over a [`FailsOnce`], with a key, a session and an unused link.
struct Fixture {
    failing: Arc<FailsOnce>,
    site: Site,
    session: String,
    code: String,
    id: String,
    token: String,
    nonce: String,
}

impl Fixture {
    async fn new() -> Self {
        let memory = storage().await;
        let failing = Arc::new(FailsOnce {
            memory: memory.clone(),
            calls_left: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            takes_effect: AtomicBool::new(false),
        });
        let app = App::over(memory.clone(), Arc::clone(&failing), |builder| builder);
        let key = app.make("partner").await;
        // Otherwise two keys would be in the order of their random ids.
        app.clock.advance(1);
        let nonce = app.nonce("/settings/keys/new").await;
        let settings = app.settings.with_sign_in(Arc::clone(&failing));
        let site = Site { settings, storage: memory, clock: app.clock };
        let session = site.sign_in("anna").await;
        let code = site.code("anna").await;
        let text = |name: &str| key[name].as_str().unwrap().to_owned();
        Self { failing, session, code, id: text("id"), token: text("token"), nonce, site }
    }

    async fn call(&self, request: &Request<String>) -> TestResponse {
        self.site.call(request.clone()).await
    }

    /// Returns the keys and events without random values, and whether the session is valid. Each change alters the snapshot.
    async fn snapshot(&self) -> (Vec<Value>, Vec<Value>, bool) {
        let (account, memory) = (AccountId::new("anna"), &self.failing.memory);
        let keys = memory.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
        let keys = keys.iter().map(|key| json!([key.name, key.revoked_at, key.expires_at, key.replaced_by.is_some()]));
        let events = memory.list_events(&account, 100).await.unwrap();
        let events = events.iter().map(|event| json!([event.action.name(), event.name]));
        let is_signed_in = self.site.get("/settings/api/keys", &self.session).await.status == 200;
        (keys.collect(), events.collect(), is_signed_in)
    }

    /// Returns request `number`, or `None` after the last. The requests are for all pages, and for changes by form and JSON.
    fn request(&self, number: usize) -> Option<Request<String>> {
        let Self { id, nonce, token, .. } = self;
        let key = |rest: &str| format!("/settings/keys/{id}{rest}");
        let api = |rest: &str| format!("/settings/api/keys/{id}{rest}");
        let new = [("nonce", &**nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never")];
        let new_json = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null, "nonce": nonce });
        let all = [
            get("/settings"),
            get("/settings/keys/new"),
            get(&key("")),
            get(&key("/revoke")),
            get(&key("/reminder.ics")),
            get("/settings/activity"),
            get("/settings/api/keys"),
            get(&api("")),
            get("/settings/api/events"),
            get("/settings/sign-in"),
            form("/settings/check", &[("token", token)]),
            in_json("POST", "/settings/api/check", &json!({ "token": token })),
            form("/settings/keys", &new),
            in_json("POST", "/settings/api/keys", &new_json),
            form(&key("/name"), &[("name", "b")]),
            in_json("PATCH", &api(""), &json!({ "name": "b" })),
            form(&key("/rotate"), &[("nonce", nonce), ("overlap", "1h")]),
            in_json("POST", &api("/rotate"), &json!({ "overlapSeconds": 0, "nonce": nonce })),
            form(&key("/revoke"), &[]),
            in_json("POST", &api("/revoke"), &json!({})),
            form("/settings/sign-in", &[("code", &self.code)]),
            form("/settings/sign-out", &[]),
        ];
        let request = all.into_iter().nth(number)?;
        let is_sign_in = request.method() == "POST" && request.uri().path() == "/settings/sign-in";
        Some(if is_sign_in { request } else { with_cookie(request, &self.session) })
    }
}

/// Number of requests, and of those that change something.
const REQUESTS: (usize, usize) = (22, 10);

#[tokio::test]
async fn request_reports_outcome_when_any_storage_call_fails() {
    let mut counted = (0, 0);
    for number in 0.. {
        let working = Fixture::new().await;
        let Some(request) = working.request(number) else { break };
        let (before, expected) = (working.snapshot().await, working.call(&request).await.status);
        let done = working.snapshot().await;
        assert!(expected < 400 || request.uri().path().ends_with(".ics"), "{request:?}: {expected}");
        counted = (counted.0 + 1, counted.1 + usize::from(before != done));
        for takes_effect in [false, true] {
            for at in 1.. {
                let fixture = Fixture::new().await;
                let request = fixture.request(number).unwrap();
                fixture.failing.takes_effect.store(takes_effect, Ordering::SeqCst);
                fixture.failing.calls_left.store(at, Ordering::SeqCst);
                let response = fixture.call(&request).await;
                fixture.failing.calls_left.store(0, Ordering::SeqCst);
                let has_failed = fixture.failing.failed.load(Ordering::SeqCst);
                let snapshot = fixture.snapshot().await;
                let context = format!("{request:?}, call {at}, {takes_effect}: {snapshot:?} after {response:?}");
                if response.status == 500 {
                    let is_unknown = response.body.contains("may or may not");
                    assert!(has_failed && (snapshot == before || is_unknown && snapshot == done), "{context}");
                    response.hides("ccat_");
                } else {
                    assert_eq!((response.status, &snapshot), (expected, &done), "{context}");
                }
                // The owner retries. A completed change may be refused now, and must not be made twice.
                let again = fixture.call(&request).await.status;
                assert!(if snapshot == done { again < 500 } else { again == expected }, "{again}: {context}");
                assert_eq!(fixture.snapshot().await, done, "{context}");
                if !has_failed {
                    break;
                }
            }
        }
    }
    assert_eq!(counted, REQUESTS);
}
