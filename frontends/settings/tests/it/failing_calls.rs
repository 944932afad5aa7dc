//! Whichever call to the storage fails, a request is answered truly or by a 500, nothing is half-done, and the same request
//! does it when it is sent again.

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
use crate::sign_in::{Site, with};

/// A memory storage of whose calls one fails.
#[derive(Debug)]
struct FailsOnce {
    memory: MemoryStorage,
    /// How many calls it is until that one, counting it.
    left: AtomicUsize,
    failed: AtomicBool,
    /// Whether a change is made before it fails: then its answer alone is lost.
    is_made: AtomicBool,
}

type Found = Result<Option<CredentialRecord>, StorageError>;

impl FailsOnce {
    fn fails(&self) -> bool {
        let fails = self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        self.failed.fetch_or(fails, Ordering::SeqCst);
        fails
    }

    async fn read<T>(&self, reading: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
        if self.fails() { Err(StorageError::new(StorageErrorKind::Unavailable, "away")) } else { reading.await }
    }

    async fn change<T>(&self, change: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
        if !self.fails() {
            return change.await;
        }
        if !self.is_made.load(Ordering::SeqCst) {
            return Err(StorageError::new(StorageErrorKind::Other, "the disk is full"));
        }
        change.await?;
        Err(StorageError::new(StorageErrorKind::OutcomeUnknown, "the answer was lost"))
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

    async fn list_events(&self, account: &AccountId, most: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        self.read(self.memory.list_events(account, most)).await
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

/// Settings over it, with a key, a session, and a link that is not used.
struct Scene {
    failing: Arc<FailsOnce>,
    site: Site,
    session: String,
    code: String,
    id: String,
    token: String,
    nonce: String,
}

impl Scene {
    async fn new() -> Self {
        let memory = storage().await;
        let failing = Arc::new(FailsOnce {
            memory: memory.clone(),
            left: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            is_made: AtomicBool::new(false),
        });
        let app = App::over(memory.clone(), Arc::clone(&failing), |builder| builder);
        let key = app.make("partner").await;
        // Or the order of two keys would be that of their random ids.
        app.clock.advance(1);
        let nonce = app.nonce("/settings/keys/new").await;
        let settings = app.settings.with_sign_in(Arc::clone(&failing));
        let site = Site { settings, storage: memory, clock: app.clock };
        let session = site.sign_in("anna").await;
        let code = site.code("anna").await;
        let text = |name: &str| key[name].as_str().unwrap().to_owned();
        Self { failing, session, code, id: text("id"), token: text("token"), nonce, site }
    }

    async fn ask(&self, request: &Request<String>) -> TestResponse {
        self.site.ask(request.clone()).await
    }

    /// What the account shows of every change, whatever ids and tokens were drawn.
    async fn snapshot(&self) -> (Vec<Value>, Vec<Value>, bool) {
        let (account, memory) = (AccountId::new("anna"), &self.failing.memory);
        let keys = memory.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
        let keys = keys.iter().map(|key| json!([key.name, key.revoked_at, key.expires_at, key.replaced_by.is_some()]));
        let events = memory.list_events(&account, 100).await.unwrap();
        let events = events.iter().map(|event| json!([event.action.name(), event.name]));
        let is_signed_in = self.site.get("/settings/api/keys", &self.session).await.status == 200;
        (keys.collect(), events.collect(), is_signed_in)
    }

    /// The request of that number: each page, and each change by a form and as JSON.
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
        Some(if is_sign_in { request } else { with(request, &self.session) })
    }
}

/// How many requests there are, and how many of them change something.
const REQUESTS: (usize, usize) = (22, 10);

#[tokio::test]
async fn whichever_call_fails_a_request_is_done_or_not_and_says_which() {
    let mut counted = (0, 0);
    for number in 0.. {
        let sound = Scene::new().await;
        let Some(request) = sound.request(number) else { break };
        let (before, expected) = (sound.snapshot().await, sound.ask(&request).await.status);
        let done = sound.snapshot().await;
        assert!(expected < 400 || request.uri().path().ends_with(".ics"), "{request:?}: {expected}");
        counted = (counted.0 + 1, counted.1 + usize::from(before != done));
        for is_made in [false, true] {
            for at in 1.. {
                let scene = Scene::new().await;
                let request = scene.request(number).unwrap();
                scene.failing.is_made.store(is_made, Ordering::SeqCst);
                scene.failing.left.store(at, Ordering::SeqCst);
                let response = scene.ask(&request).await;
                scene.failing.left.store(0, Ordering::SeqCst);
                let met = scene.failing.failed.load(Ordering::SeqCst);
                let snapshot = scene.snapshot().await;
                let context = format!("{request:?}, call {at}, {is_made}: {snapshot:?} after {response:?}");
                if response.status == 500 {
                    let is_unknown = response.body.contains("not known whether");
                    assert!(met && (snapshot == before || is_unknown && snapshot == done), "{context}");
                    response.hides("ccat_");
                } else {
                    assert_eq!((response.status, &snapshot), (expected, &done), "{context}");
                }
                // Once more, as its owner would. What was done before may be refused now, and is not done twice.
                let again = scene.ask(&request).await.status;
                assert!(if snapshot == done { again < 500 } else { again == expected }, "{again}: {context}");
                assert_eq!(scene.snapshot().await, done, "{context}");
                if !met {
                    break;
                }
            }
        }
    }
    assert_eq!(counted, REQUESTS);
}
