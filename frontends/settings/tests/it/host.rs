//! [`Host`]: a host application's key storage, which stores the times of revocations in whole minutes.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};
use tokio::sync::Barrier;

type Found = Result<Option<CredentialRecord>, StorageError>;

#[derive(Debug)]
pub(crate) struct Host {
    storage: MemoryStorage,
    /// Each creation waits here for the others.
    barrier: Barrier,
}

impl Host {
    pub(crate) fn of(storage: MemoryStorage) -> Self {
        Self { storage, barrier: Barrier::new(1) }
    }

    /// Creates a storage in which two creations run concurrently: both have read before either writes.
    pub(crate) fn with_concurrent_creations(storage: MemoryStorage) -> Self {
        Self { storage, barrier: Barrier::new(2) }
    }
}

#[async_trait]
impl CredentialStorage for Host {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.storage.find_credential(digest).await
    }
}

#[async_trait]
impl KeyStorage for Host {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.storage.list_keys(account, now, ended).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Found {
        self.storage.find_key(account, id).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        self.barrier.wait().await;
        self.storage.create_key(key, by).await
    }

    async fn rename_key(&self, account: &AccountId, id: &str, name: &str, by: &Actor) -> Found {
        self.storage.rename_key(account, id, name, by).await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Found {
        self.storage.rotate_key(account, id, ends_at, successor, by).await
    }

    async fn revoke_key(&self, account: &AccountId, id: &str, at: Timestamp, by: &Actor) -> Found {
        let minute = Timestamp::from_microseconds(at.as_microseconds() / 60_000_000 * 60_000_000).unwrap();
        self.storage.revoke_key(account, id, minute, by).await
    }

    async fn list_events(&self, account: &AccountId, max: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        self.storage.list_events(account, max).await
    }
}
