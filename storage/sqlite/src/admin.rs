//! Administration: credentials, and the doors to import and export.

use catalogue_core::{
    AccountId, AdminStorage, CredentialRecord, Import, NewCredential, StorageError, StorageErrorKind, Timestamp,
    Visitor, async_trait,
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::connection::empty_wal;
use crate::error::storage_error;
use crate::export::export;
use crate::import::SqliteImport;
use crate::rows::{Micros, credential_record};
use crate::storage::SqliteStorage;

const INSERT_CREDENTIAL: &str = "INSERT INTO credentials \
     (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

const LIST_CREDENTIALS: &str = "SELECT account_id, kind, id, scopes, digest, name, shown_prefix, created_at, \
     expires_at, revoked_at FROM credentials WHERE account_id = ?1 ORDER BY created_at, id";

const REVOKE_CREDENTIAL: &str = "UPDATE credentials SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 \
     RETURNING account_id, kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at";

#[async_trait]
impl AdminStorage for SqliteStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        Ok(Box::new(SqliteImport::begin(self.writer()?)?))
    }

    async fn export(&self, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        let mut connection = self.readers.database().open_exporter()?;
        export(&mut connection, visit).map_err(storage_error)
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        let sql = "DELETE FROM courses WHERE account_id = ?1 AND slug = ?2";
        let connection = self.writer()?;
        let removed = connection.execute(sql, [account.as_str(), slug]).map_err(storage_error)?;
        empty_wal(&connection);
        Ok(removed > 0)
    }

    async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
        let record = &credential.record;
        let identity = &record.identity;
        let mut connection = self.writer()?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage_error)?;
        if !account_exists(&transaction, identity.account.as_str()).map_err(storage_error)? {
            return Err(unknown_account(&identity.account));
        }
        // The schema could hold ids to be unique within an account only; a revocation names no account.
        let same_id = "SELECT 1 FROM credentials WHERE id = ?1";
        if transaction
            .prepare(same_id)
            .and_then(|mut statement| statement.exists([&identity.credential_id]))
            .map_err(storage_error)?
        {
            return Err(StorageError::new(
                StorageErrorKind::AlreadyThere,
                "there is a credential with this id already",
            ));
        }
        let values = params![
            credential.digest.as_bytes(),
            identity.account.as_str(),
            identity.credential_id,
            identity.kind.name(),
            record.name,
            record.shown_prefix,
            identity.scopes.to_string(),
            Micros(record.created_at),
            record.expires_at.map(Micros),
            record.revoked_at.map(Micros),
        ];
        transaction.execute(INSERT_CREDENTIAL, values).map_err(storage_error)?;
        transaction.commit().map_err(storage_error)?;
        empty_wal(&connection);
        Ok(())
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.readers.read(|connection| {
            if !account_exists(connection, account.as_str())? {
                return Ok(None);
            }
            let mut statement = connection.prepare(LIST_CREDENTIALS)?;
            let records = statement.query_and_then([account.as_str()], credential_record)?;
            records.collect::<Result<_, _>>().map(Some)
        })
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        let connection = self.writer()?;
        let revoked = connection.query_row(REVOKE_CREDENTIAL, params![id, Micros(at)], credential_record);
        let revoked = revoked.optional().map_err(storage_error)?;
        empty_wal(&connection);
        Ok(revoked)
    }
}

pub(crate) fn account_exists(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM accounts WHERE id = ?1")?.exists([id])
}

pub(crate) fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("there is no account {account:?}"))
}
