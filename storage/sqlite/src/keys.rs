//! [`KeyStorage`]: keys of an account, and its event log. Each change of a key writes an event.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};
use rusqlite::{Connection, params};

use crate::credentials::{self, Changed, RENAME, REVOKE};
use crate::events;
use crate::readers::{ADMINISTRATION_WAIT, Reader};
use crate::rows::Micros;
use crate::storage::SqliteStorage;

#[async_trait]
impl KeyStorage for SqliteStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        if self.find_account(account)?.is_none() {
            return Ok(None);
        }
        let list = |connection: &Reader| credentials::list(connection, account, now, ended);
        self.readers.read_within(ADMINISTRATION_WAIT, list).map(Some)
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        self.readers.read_within(ADMINISTRATION_WAIT, |connection| credentials::find_in(connection, account, id))
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        self.check_account(&key.record.identity.account)?;
        let (key, by) = (key.clone(), by.clone());
        self.write(move |connection| {
            let at = key.record.created_at;
            credentials::remove_ended(connection, &key.record.identity.account, at)?;
            credentials::insert(connection, &key)?;
            events::add(connection, &CredentialEvent::for_key(&key.record, CredentialAction::KeyCreated, at, &by))
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
        self.write(move |connection| {
            let renamed = credentials::change(connection, &account, &id, RENAME, params![account.as_str(), id, name])?;
            let renamed = with_event(connection, renamed, CredentialAction::KeyRenamed, Timestamp::now(), &by)?;
            events::limit_renames(connection, &account, &id)?;
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
        self.check_account(account)?;
        let (account, id, successor, by) = (account.clone(), id.to_owned(), successor.clone(), by.clone());
        self.write(move |connection| {
            let ended = credentials::rotate(connection, &account, &id, ends_at, &successor)?;
            let ended = ended.map(|record| (record, true));
            with_event(connection, ended, CredentialAction::KeyRotated, successor.record.created_at, &by)
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
        self.write(move |connection| {
            let revoked =
                credentials::change(connection, &account, &id, REVOKE, params![account.as_str(), id, Micros(at)])?;
            with_event(connection, revoked, CredentialAction::KeyRevoked, at, &by)
        })
        .await
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        self.readers.read_within(ADMINISTRATION_WAIT, |connection| events::list(connection, account, limit))
    }
}

/// Returns the key, after adding an event if it has changed.
fn with_event(
    connection: &Connection,
    changed: Changed,
    action: CredentialAction,
    at: Timestamp,
    by: &Actor,
) -> Result<Option<CredentialRecord>, StorageError> {
    let Some((record, is_changed)) = changed else { return Ok(None) };
    if is_changed {
        events::add(connection, &CredentialEvent::for_key(&record, action, at, by))?;
    }
    Ok(Some(record))
}
