//! Failing key storage: no response reports success.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use serde_json::json;

use crate::app::{App, storage};

/// A storage whose changes fail with `kind`; reads work only if `reads_work` is set.
#[derive(Debug)]
struct FailingStorage {
    storage: MemoryStorage,
    kind: StorageErrorKind,
    reads_work: bool,
    message: &'static str,
}

impl FailingStorage {
    fn error(&self) -> StorageError {
        StorageError::new(self.kind, self.message)
    }
}

#[async_trait]
impl CredentialStorage for FailingStorage {
    async fn find_credential(&self, _: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        Err(self.error())
    }
}

#[async_trait]
impl KeyStorage for FailingStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        if self.reads_work { self.storage.list_keys(account, now, ended).await } else { Err(self.error()) }
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        if self.reads_work { self.storage.find_key(account, id).await } else { Err(self.error()) }
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

/// Returns settings over a failing storage, and the id of a key.
pub(crate) async fn failing_app(kind: StorageErrorKind, reads_work: bool) -> (App, String) {
    let storage = storage().await;
    let working = App::over(storage.clone(), storage.clone(), |builder| builder);
    let id = working.make("partner").await["id"].as_str().unwrap().to_owned();
    let message = "the disk at /var/secret is full";
    let broken = FailingStorage { storage: storage.clone(), kind, reads_work, message };
    (App::over(storage, broken, |builder| builder), id)
}

#[tokio::test]
async fn failed_change_returns_500_and_changes_nothing() {
    for (kind, sentence) in [
        (StorageErrorKind::Other, "Internal server error. Nothing has changed."),
        (StorageErrorKind::Unavailable, "The database is unavailable. Nothing has changed. Try again in a minute."),
        (StorageErrorKind::OutcomeUnknown, "The change may or may not have been saved."),
    ] {
        let (app, id) = failing_app(kind, true).await;
        let key = format!("/settings/keys/{id}");
        let nonce = app.nonce("/settings/keys/new").await;
        let new = [("nonce", &*nonce), ("name", "a"), ("scope", "read:courses"), ("expires", "never")];
        let mut responses = vec![app.post("/settings/keys", &new).await];
        responses.push(app.post(&format!("{key}/name"), &[("name", "b")]).await);
        responses.push(app.post(&format!("{key}/rotate"), &[("nonce", &nonce), ("overlap", "0")]).await);
        responses.push(app.post(&format!("{key}/revoke"), &[]).await);
        for response in responses {
            assert_eq!(response.status, 500);
            response.shows("<title>Server error");
            response.shows(sentence);
            response.shows(response.header("x-request-id").unwrap());
            response.hides("/var/secret");
            response.hides("ccat_");
        }
        let body = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null });
        let response = app.send("POST", "/settings/api/keys", &body).await;
        let error = &response.json()["error"];
        assert_eq!((response.status, &error["code"]), (500, &json!("internal_error")));
        assert_eq!(error["details"]["requestId"], response.header("x-request-id").unwrap());
        assert_eq!(app.get("/settings/api/keys").await.data()[0]["name"], "partner");
    }
}

#[tokio::test]
async fn busy_database_error_mentions_import() {
    let (app, id) = failing_app(StorageErrorKind::Unavailable, true).await;
    let path = format!("/settings/keys/{id}/revoke");
    app.post(&path, &[]).await.hides("an import");
    let (app, id) = failing_app(StorageErrorKind::Busy, true).await;
    let response = app.post(&format!("/settings/keys/{id}/revoke"), &[]).await;
    assert_eq!(response.status, 500);
    response.shows("Another program is writing to the database; an import may be running. Nothing has changed.");
}

#[tokio::test]
async fn concurrently_removed_account_returns_404() {
    let (app, id) = failing_app(StorageErrorKind::UnknownReference, true).await;
    let body = json!({ "name": "a", "scopes": ["read:courses"], "expiresAt": null });
    assert_eq!(app.send("POST", "/settings/api/keys", &body).await.failure().0, 404);
    let path = format!("/settings/api/keys/{id}/rotate");
    assert_eq!(app.send("POST", &path, &json!({ "overlapSeconds": 0 })).await.failure().0, 404);
}

#[tokio::test]
async fn failed_read_returns_500_instead_of_empty_list() {
    let (app, id) = failing_app(StorageErrorKind::Other, false).await;
    for path in ["/settings", "/settings/activity", "/settings/api/keys", "/settings/api/events"] {
        assert_eq!(app.get(path).await.status, 500, "{path}");
    }
    assert_eq!(app.get(&format!("/settings/keys/{id}")).await.status, 500);
    assert_eq!(app.post("/settings/check", &[("token", "ccat_x")]).await.status, 500);
}
