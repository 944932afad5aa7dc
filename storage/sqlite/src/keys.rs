//! The keys of an account, each change with its event.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::credentials::{self, Changed};
use crate::events;
use crate::locks::ADMINISTRATION_WAIT;
use crate::storage::SqliteStorage;
use crate::tables::Tables;

#[async_trait]
impl KeyStorage for SqliteStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let read = || self.read(|tables| credentials::list(tables, account, now, ended));
        if !self.has_account(account).await? {
            return Ok(None);
        }
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        let read = || self.read(|tables| credentials::find_in(tables, account, id));
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        self.check_account(&key.record.identity.account).await?;
        let (key, by) = (key.clone(), by.clone());
        self.write(move |tables| {
            let at = key.record.created_at;
            credentials::remove_ended(tables, &key.record.identity.account, at)?;
            credentials::insert(tables, &key)?;
            events::add(tables, &CredentialEvent::to_key(&key.record, CredentialAction::KeyCreated, at, &by))
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
        self.write(move |tables| {
            let renamed = credentials::rename(tables, &account, &id, &name)?;
            let renamed = with_event(tables, renamed, CredentialAction::KeyRenamed, Timestamp::now(), &by)?;
            events::limit_renames(tables, &account, &id)?;
            Ok(renamed)
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
        self.check_account(account).await?;
        let (account, id, successor, by) = (account.clone(), id.to_owned(), successor.clone(), by.clone());
        self.write(move |tables| {
            let ended = credentials::rotate(tables, &account, &id, ends_at, &successor)?;
            let ended = ended.map(|record| (record, true));
            with_event(tables, ended, CredentialAction::KeyRotated, successor.record.created_at, &by)
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
        self.write(move |tables| {
            let revoked = credentials::revoke(tables, &account, &id, at)?;
            with_event(tables, revoked, CredentialAction::KeyRevoked, at, &by)
        })
        .await
    }

    async fn list_events(&self, account: &AccountId, most: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        let read = || self.read(|tables| events::list(tables, account, most));
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }
}

/// The key, and an event where it has changed.
fn with_event(
    tables: &Tables<'_>,
    changed: Changed,
    action: CredentialAction,
    at: Timestamp,
    by: &Actor,
) -> Result<Option<CredentialRecord>, StorageError> {
    let Some((record, is_changed)) = changed else { return Ok(None) };
    if is_changed {
        events::add(tables, &CredentialEvent::to_key(&record, action, at, by))?;
    }
    Ok(Some(record))
}
