//! Keys and sign-ins of a host application, with numbers as ids, times in whole seconds, and only API keys.

use std::sync::{Arc, RwLock};

use catalogue_core::admin::{Account, CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, CredentialKind, Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession, NewSignIn, Session,
    SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::blocked_reads::Lock;
use crate::flaws::Flaw;
use crate::host::{Tables, is_whole_second};

/// The host application's storage of credentials, also for the developer settings. Panics on values that its columns could
/// not store.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) memory: MemoryStorage,
    /// The tables with the revisions of the accounts' courses.
    pub(crate) tables: Arc<RwLock<Tables>>,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) lock: Arc<Lock>,
}

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
        self.lock.begin_read()?;
        let Some(mut found) = self.memory.find_credential(digest).await? else { return Ok(None) };
        let tables = self.tables.read().unwrap();
        let is_stale = self.flaw == Some(Flaw::StaleRevision);
        let revisions = if is_stale { &tables.first_revisions } else { &tables.revisions };
        found.revision = revisions.get(&found.identity.account).copied();
        if self.flaw == Some(Flaw::OmitsScopes) {
            found.identity.scopes = Scopes::default();
        }
        let is_hidden = found.revoked_at.is_some() && self.flaw == Some(Flaw::HidesRevoked);
        Ok((!is_hidden).then_some(found))
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
        self.memory.list_keys(account, now, ended).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        assert_number(account.as_str());
        self.memory.find_key(account, id).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        assert_key(key);
        self.memory.create_key(key, by).await
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        assert_number(account.as_str());
        self.memory.rename_key(account, id, name, by).await
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
        self.memory.rotate_key(account, id, ends_at, successor, by).await
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
        self.memory.revoke_key(account, id, at, by).await
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        assert_number(account.as_str());
        self.memory.list_events(account, limit).await
    }
}

#[async_trait]
impl SignInStorage for Rows {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        assert_number(link.account.as_str());
        assert_whole_seconds([Some(link.created_at), Some(link.expires_at)]);
        self.memory.create_link(link, by).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        assert_whole_seconds([Some(now), Some(session.created_at), Some(session.expires_at)]);
        self.memory.exchange_link(link, now, session).await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.memory.find_session(digest).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.memory.end_session(digest).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        assert_number(account.as_str());
        self.memory.end_sign_ins(account, by).await
    }
}
