//! A storage that fails: 500, and nothing is shown as done.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use serde_json::json;

use crate::app::{App, storage};

/// Reads, and fails at each change; or fails at all.
#[derive(Debug)]
struct Failing {
    storage: MemoryStorage,
    kind: StorageErrorKind,
    reads: bool,
    message: &'static str,
}

impl Failing {
    fn error(&self) -> StorageError {
        StorageError::new(self.kind, self.message)
    }
}

#[async_trait]
impl CredentialStorage for Failing {
    async fn find_credential(&self, _: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        Err(self.error())
    }
}

#[async_trait]
impl KeyStorage for Failing {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        if self.reads { self.storage.list_keys(account, now, ended).await } else { Err(self.error()) }
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        if self.reads { self.storage.find_key(account, id).await } else { Err(self.error()) }
    }

    async fn create_key(&self, _: &NewCredential, _: &Actor) -> Result<(), StorageError> {
        Err(self.error())
    }

    async fn rename_key(
        &self,
        _: &AccountId,
        _: &str,
        _: &str,
        _: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        Err(self.error())
    }

    async fn rotate_key(
        &self,
        _: &AccountId,
        _: &str,
        _: Timestamp,
        _: &NewCredential,
        _: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        Err(self.error())
    }

    async fn revoke_key(
        &self,
        _: &AccountId,
        _: &str,
        _: Timestamp,
        _: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        Err(self.error())
    }

    async fn list_events(&self, _: &AccountId, _: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        Err(self.error())
    }
}

/// Settings that fail, and the id of a key.
pub(crate) async fn failing(kind: StorageErrorKind, reads: bool) -> (App, String) {
    let storage = storage().await;
    let sound = App::over(storage.clone(), storage.clone(), |builder| builder);
    let id = sound.make("partner").await["id"].as_str().unwrap().to_owned();
    let message = "the disk at /var/secret is full";
    let broken = Failing { storage: storage.clone(), kind, reads, message };
    (App::over(storage, broken, |builder| builder), id)
}

#[tokio::test]
async fn each_change_that_fails_says_so_and_changes_nothing() {
    for (kind, sentence) in [
        (StorageErrorKind::Other, "The server failed. Nothing has changed."),
        (StorageErrorKind::Unavailable, "The database cannot be used now. Nothing has changed. Try again in a minute."),
        (StorageErrorKind::OutcomeUnknown, "It is not known whether the change was made."),
    ] {
        let (app, id) = failing(kind, true).await;
        let key = format!("/settings/keys/{id}");
        let nonce = app.nonce("/settings/keys/new").await;
        let new = [("nonce", &*nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never")];
        let mut answers = vec![app.post("/settings/keys", &new).await];
        answers.push(app.post(&format!("{key}/name"), &[("name", "b")]).await);
        answers.push(app.post(&format!("{key}/rotate"), &[("nonce", &nonce), ("overlap", "0")]).await);
        answers.push(app.post(&format!("{key}/revoke"), &[]).await);
        for answer in answers {
            assert_eq!(answer.status, 500);
            answer.shows("<title>The server failed");
            answer.shows(sentence);
            answer.shows(answer.header("x-request-id").unwrap());
            answer.hides("/var/secret");
            answer.hides("ccat_");
        }
        let body = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null });
        let answer = app.send("POST", "/settings/api/keys", &body).await;
        let error = &answer.json()["error"];
        assert_eq!((answer.status, &error["code"]), (500, &json!("internal_error")));
        assert_eq!(error["details"]["requestId"], answer.header("x-request-id").unwrap());
        assert_eq!(app.get("/settings/api/keys").await.data()[0]["name"], "partner");
    }
}

/// Only who waits for another writer is told of imports.
#[tokio::test]
async fn what_another_writer_keeps_waiting_says_so() {
    let (app, id) = failing(StorageErrorKind::Unavailable, true).await;
    let path = format!("/settings/keys/{id}/revoke");
    app.post(&path, &[]).await.hides("an import");
    let (app, id) = failing(StorageErrorKind::Busy, true).await;
    let answer = app.post(&format!("/settings/keys/{id}/revoke"), &[]).await;
    assert_eq!(answer.status, 500);
    answer.shows("Another program is writing to the database; an import may be running. Nothing has changed.");
}

#[tokio::test]
async fn an_account_that_is_removed_meanwhile_is_not_found() {
    let (app, id) = failing(StorageErrorKind::UnknownReference, true).await;
    let body = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null });
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.failure().0, 404);
    let path = format!("/settings/api/keys/{id}/rotate");
    assert_eq!(app.send("POST", &path, &json!({ "overlapSeconds": 0 })).await.failure().0, 404);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_shown_as_empty() {
    let (app, id) = failing(StorageErrorKind::Other, false).await;
    for path in ["/settings", "/settings/activity", "/settings/api/keys", "/settings/api/events"] {
        assert_eq!(app.get(path).await.status, 500, "{path}");
    }
    assert_eq!(app.get(&format!("/settings/keys/{id}")).await.status, 500);
    assert_eq!(app.post("/settings/check", &[("token", "ccat_x")]).await.status, 500);
}
