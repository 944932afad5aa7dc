//! A host application with developer settings, numbers as ids, times in whole seconds, and only API keys.

use std::sync::Mutex;

use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, CredentialKind, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession, NewSignIn, Session,
    SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use catalogue_storage_conformance::{AccountFixture, CredentialFixture, Fixture, Precision, SignInFixture};

use crate::tables::is_whole_second;

/// The host application's storage for the developer settings. Panics on values that its columns could not store.
#[derive(Debug, Default)]
pub(crate) struct Rows(MemoryStorage);

fn assert_whole_seconds<const N: usize>(times: [Option<Timestamp>; N]) {
    assert!(times.into_iter().flatten().all(is_whole_second), "refused: {times:?}");
}

fn assert_number(id: &str) {
    assert!(id.parse::<u64>().is_ok(), "refused: {id:?}");
}

fn assert_key(key: &NewCredential) {
    let CredentialRecord { identity, created_at, expires_at, revoked_at, last_used_at, replaced_by, .. } = &key.record;
    assert_eq!(identity.kind, CredentialKind::ApiKey, "refused");
    assert_number(&identity.credential_id);
    assert_number(identity.account.as_str());
    replaced_by.iter().for_each(|id| assert_number(id));
    assert_whole_seconds([Some(*created_at), *expires_at, *revoked_at, *last_used_at]);
}

#[async_trait]
impl CredentialStorage for Rows {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.0.find_credential(digest).await
    }
}

#[async_trait]
impl KeyStorage for Rows {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        assert_number(account.as_str());
        self.0.list_keys(account, now, ended).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        assert_number(account.as_str());
        self.0.find_key(account, id).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        assert_key(key);
        self.0.create_key(key, by).await
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        assert_number(account.as_str());
        self.0.rename_key(account, id, name, by).await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        assert_key(successor);
        assert_whole_seconds([Some(ends_at)]);
        self.0.rotate_key(account, id, ends_at, successor, by).await
    }

    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        assert_number(account.as_str());
        assert_whole_seconds([Some(at)]);
        self.0.revoke_key(account, id, at, by).await
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        assert_number(account.as_str());
        self.0.list_events(account, limit).await
    }
}

#[async_trait]
impl SignInStorage for Rows {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        assert_number(link.account.as_str());
        assert_whole_seconds([Some(link.created_at), Some(link.expires_at)]);
        self.0.create_link(link, by).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        assert_whole_seconds([Some(now), Some(session.created_at), Some(session.expires_at)]);
        self.0.exchange_link(link, now, session).await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.0.find_session(digest).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.0.end_session(digest).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        assert_number(account.as_str());
        self.0.end_sign_ins(account, by).await
    }
}

/// The host application, which writes its accounts itself, and its keys through [`Rows`].
#[derive(Default)]
pub(crate) struct Owners {
    rows: Rows,
    /// Names by id: the id is the position in the list.
    names: Mutex<Vec<String>>,
}

impl Owners {
    fn id_of(&self, name: &str) -> String {
        let mut names = self.names.lock().unwrap();
        let known = names.iter().position(|known| known == name);
        known
            .unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
            .to_string()
    }
}

impl Fixture for Owners {
    async fn account(&self, name: &str) -> AccountId {
        AccountId::new(self.id_of(name))
    }

    fn precision(&self) -> Precision {
        Precision::Seconds
    }
}

impl AccountFixture for Owners {
    async fn put_account(&self, account: &Account) {
        assert_number(account.id.as_str());
        let mut import = self.rows.0.begin_import().await.unwrap();
        import.put_account(account).await.unwrap();
        import.commit().await.unwrap();
    }

    async fn remove_account(&self, account: &AccountId) {
        assert!(AdminStorage::remove_account(&self.rows.0, account).await.unwrap().is_some());
    }
}

impl CredentialFixture for Owners {
    type Storage = Rows;

    fn storage(&self) -> &Rows {
        &self.rows
    }

    async fn put_credential(&self, key: &NewCredential) {
        if self.rows.list_keys(&key.record.identity.account, Timestamp::MAX, 0).await.unwrap().is_none() {
            let id = key.record.identity.account.clone();
            self.put_account(&Account { id, name: String::new(), email: String::new() }).await;
        }
        self.rows.create_key(key, &Actor::OPERATOR).await.unwrap();
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        let record = self.rows.0.find_credential_record(id).await.unwrap().unwrap();
        self.rows.revoke_key(&record.identity.account, id, at, &Actor::OPERATOR).await.unwrap().unwrap();
    }

    async fn key(&self, name: &str) -> String {
        self.id_of(name)
    }

    fn has_oauth_tokens(&self) -> bool {
        false
    }
}

impl SignInFixture for Owners {
    type Storage = Rows;

    fn storage(&self) -> &Rows {
        &self.rows
    }

    async fn events(&self, account: &AccountId) -> Vec<CredentialEvent> {
        self.rows.list_events(account, usize::MAX).await.unwrap()
    }
}
