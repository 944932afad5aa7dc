//! Keys of one account, for the developer settings. Reads use the primary.

use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, KeyStorage, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::connection::{Connection, Values};
use crate::credentials::{self, Changed, FIND_IN_ACCOUNT, RENAME, REVOKE};
use crate::events::{self, LAST_EVENTS};
use crate::rows::credential_record;
use crate::storage::PostgresStorage;
use crate::text::{can_be_stored, storable, stored};

#[async_trait]
impl KeyStorage for PostgresStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let Some([account]) = storable([account.as_str()]) else { return Ok(None) };
        let sql = self.sql(credentials::LIST, |statements| &statements.list_keys);
        let ended = i64::try_from(ended).unwrap_or(i64::MAX);
        let values: Values<'_> = &[&account, &now.as_microseconds(), &ended];
        credentials::listed(&self.readers.read_primary(&sql, values).await?)
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        let Some([account, id]) = storable([account.as_str(), id]) else { return Ok(None) };
        let rows = self.readers.read_primary(&FIND_IN_ACCOUNT, &[&account, &id]).await?;
        rows.first().map(credential_record).transpose()
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        let connection = self.writer().await?;
        let create = || async {
            credentials::remove_ended(&connection, &key.record.identity.account, key.record.created_at).await?;
            credentials::insert(&connection, key, &self.find_account()).await?;
            let at = key.record.created_at;
            let event = CredentialEvent::for_key(&key.record, CredentialAction::KeyCreated, at, by);
            events::insert(&connection, &event).await.map(Some)
        };
        self.transact(&connection, create).await.map(|_| ())
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let Some([account, id]) = storable([account.as_str(), id]) else { return Ok(None) };
        let connection = self.writer().await?;
        let rename = || async {
            let values: Values<'_> = &[&account, &id, &stored(name)];
            let renamed = credentials::change(&connection, account, id, &RENAME, values).await?;
            let renamed =
                record_event(&connection, renamed, CredentialAction::KeyRenamed, Timestamp::now(), by).await?;
            events::limit_renames(&connection, account, id).await?;
            Ok(renamed)
        };
        self.transact(&connection, rename).await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        if *account != successor.record.identity.account || !can_be_stored(id) {
            return Ok(None);
        }
        let connection = self.writer().await?;
        let rotate = || async {
            let rotated = credentials::rotate(&connection, id, ends_at, successor, &self.find_account()).await?;
            let rotated = rotated.map(|record| (record, true));
            record_event(&connection, rotated, CredentialAction::KeyRotated, successor.record.created_at, by).await
        };
        self.transact(&connection, rotate).await
    }

    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let Some([account, id]) = storable([account.as_str(), id]) else { return Ok(None) };
        let connection = self.writer().await?;
        let revoke = || async {
            let values: Values<'_> = &[&account, &id, &at.as_microseconds()];
            let revoked = credentials::change(&connection, account, id, &REVOKE, values).await?;
            record_event(&connection, revoked, CredentialAction::KeyRevoked, at, by).await
        };
        self.transact(&connection, revoke).await
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        let Some([account]) = storable([account.as_str()]) else { return Ok(Vec::new()) };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.readers.read_primary(&LAST_EVENTS, &[&account, &limit]).await?;
        rows.iter().map(events::event).collect()
    }
}

/// Writes the event of a change, if there was one, and returns the key.
async fn record_event(
    connection: &Connection,
    changed: Option<Changed>,
    action: CredentialAction,
    at: Timestamp,
    by: &Actor,
) -> Result<Option<CredentialRecord>, StorageError> {
    let Some((record, is_changed)) = changed else { return Ok(None) };
    if is_changed {
        events::insert(connection, &CredentialEvent::for_key(&record, action, at, by)).await?;
    }
    Ok(Some(record))
}
