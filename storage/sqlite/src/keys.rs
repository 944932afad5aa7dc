//! The keys of an account, each change with its event.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::credentials::{self, Changed};
use crate::events;
use crate::locks::ADMINISTRATION_WAIT;
use crate::storage::SqliteStorage;
use crate::write::WriteTransaction;

#[async_trait]
impl KeyStorage for SqliteStorage {
    async fn list_keys(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let read = || self.readers.read(|connection| credentials::list(connection, account));
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        let (key, by) = (key.clone(), by.clone());
        self.write(move |transaction| {
            credentials::insert(transaction, &key)?;
            let at = key.record.created_at;
            events::add(transaction, &CredentialEvent::to_key(&key.record, CredentialAction::KeyCreated, at, &by))
        })
        .await
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let (account, id, name, by) = (account.clone(), id.to_owned(), name.to_owned(), by.clone());
        self.write(move |transaction| {
            let renamed = credentials::rename(transaction, &account, &id, &name)?;
            with_event(transaction, renamed, CredentialAction::KeyRenamed, Timestamp::now(), &by)
        })
        .await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let (account, id, successor, by) = (account.clone(), id.to_owned(), successor.clone(), by.clone());
        self.write(move |transaction| {
            let ended = credentials::rotate(transaction, &account, &id, ends_at, &successor)?;
            let ended = ended.map(|record| (record, true));
            with_event(transaction, ended, CredentialAction::KeyRotated, successor.record.created_at, &by)
        })
        .await
    }

    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let (account, id, by) = (account.clone(), id.to_owned(), by.clone());
        self.write(move |transaction| {
            let revoked = credentials::revoke(transaction, &account, &id, at)?;
            with_event(transaction, revoked, CredentialAction::KeyRevoked, at, &by)
        })
        .await
    }

    async fn list_events(&self, account: &AccountId, most: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        let read = || self.readers.read(|connection| events::list(connection, account, most));
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }
}

/// The key, and an event where it has changed.
fn with_event(
    transaction: &WriteTransaction,
    changed: Changed,
    action: CredentialAction,
    at: Timestamp,
    by: &Actor,
) -> Result<Option<CredentialRecord>, StorageError> {
    let Some((record, is_changed)) = changed else { return Ok(None) };
    if is_changed {
        events::add(transaction, &CredentialEvent::to_key(&record, action, at, by))?;
    }
    Ok(Some(record))
}
