//! Administration: credentials, and the doors to import and export. Each call has a connection of its own.

use catalogue_core::{
    AccountId, AdminStorage, CredentialRecord, Import, NewCredential, StorageError, StorageErrorKind, Timestamp,
    Visitor, async_trait,
};
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::export::export;
use crate::import::PostgresImport;
use crate::options::Options;
use crate::rows::credential_record;
use crate::storage::PostgresStorage;
use crate::text::{can_be_stored, check_storable, stored};
use crate::writes::{lock_account, remove_courses, replace_revision};

const INSERT_CREDENTIAL: Sql = Sql {
    text: "INSERT INTO credentials \
           (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at) \
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    types: &[
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::INT8,
    ],
};

const LIST_CREDENTIALS: Sql = Sql {
    text: "SELECT account_id, kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at \
           FROM credentials WHERE account_id = $1 ORDER BY created_at, id",
    types: &[Type::TEXT],
};

const REVOKE_CREDENTIAL: Sql = Sql {
    text: "UPDATE credentials SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 \
           RETURNING account_id, kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at",
    types: &[Type::TEXT, Type::INT8],
};

const FIND_ACCOUNT: Sql = Sql { text: "SELECT id FROM accounts WHERE id = $1", types: &[Type::TEXT] };

const FIND_CREDENTIAL_ID: Sql = Sql { text: "SELECT id FROM credentials WHERE id = $1", types: &[Type::TEXT] };

#[async_trait]
impl AdminStorage for PostgresStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        Ok(Box::new(PostgresImport::begin(self.writer().await?).await?))
    }

    async fn export(&self, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        export(&self.exporter().await?, visit).await
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        if !can_be_stored(account.as_str()) || !can_be_stored(slug) {
            return Ok(false);
        }
        let connection = self.writer().await?;
        let removed = async {
            connection.run(&Options::begin()).await?;
            if !lock_account(&connection, account).await? {
                return Ok(0);
            }
            let removed = remove_courses(&connection, account, &[slug]).await?;
            if removed > 0 {
                replace_revision(&connection, account).await?;
            }
            connection.run("COMMIT").await?;
            Ok(removed)
        };
        Ok(removed.await.map_err(storage_error)? > 0)
    }

    async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
        let record = &credential.record;
        let identity = &record.identity;
        let (id, scopes) = (&*identity.credential_id, identity.scopes.to_string());
        let connection = self.writer().await?;
        connection.run(&Options::begin()).await.map_err(storage_error)?;
        if !account_exists(&connection, &identity.account).await? {
            return Err(unknown_account(&identity.account));
        }
        check_storable([id, &record.shown_prefix, &scopes])?;
        let name = record.name.as_deref().map(stored);
        // The schema could hold ids to be unique within an account only; a revocation names no account.
        if !connection.query(&FIND_CREDENTIAL_ID, &[&id]).await.map_err(storage_error)?.is_empty() {
            return Err(StorageError::new(
                StorageErrorKind::AlreadyThere,
                "there is a credential with this id already",
            ));
        }
        let times = [Some(record.created_at), record.expires_at, record.revoked_at];
        let [created_at, expires_at, revoked_at] = times.map(|time| time.map(Timestamp::as_microseconds));
        let values: Values<'_> = &[
            &credential.digest.as_bytes().as_slice(),
            &identity.account.as_str(),
            &id,
            &identity.kind.name(),
            &name,
            &record.shown_prefix,
            &scopes,
            &created_at,
            &expires_at,
            &revoked_at,
        ];
        connection.execute(&INSERT_CREDENTIAL, values).await.map_err(storage_error)?;
        connection.run("COMMIT").await.map_err(storage_error)
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        let connection = self.exporter().await?;
        if !account_exists(&connection, account).await? {
            return Ok(None);
        }
        let rows = connection.query(&LIST_CREDENTIALS, &[&account.as_str()]).await.map_err(storage_error)?;
        rows.iter().map(credential_record).collect::<Result<_, _>>().map(Some)
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        let connection = self.writer().await?;
        connection.run(&Options::begin()).await.map_err(storage_error)?;
        let rows = connection.query(&REVOKE_CREDENTIAL, &[&id, &at.as_microseconds()]).await.map_err(storage_error)?;
        let revoked = rows.first().map(credential_record).transpose()?;
        connection.run("COMMIT").await.map_err(storage_error)?;
        Ok(revoked)
    }
}

async fn account_exists(connection: &Connection, account: &AccountId) -> Result<bool, StorageError> {
    if !can_be_stored(account.as_str()) {
        return Ok(false);
    }
    Ok(!connection.query(&FIND_ACCOUNT, &[&account.as_str()]).await.map_err(storage_error)?.is_empty())
}

pub(crate) fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("there is no account {account:?}"))
}
