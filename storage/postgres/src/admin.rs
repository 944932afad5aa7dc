//! Administration: credentials, and the doors to import and export. Each call has a connection of its own.

use std::time::Duration;

use catalogue_core::{
    AccountId, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, StorageError, StorageErrorKind,
    Timestamp, Visitor, async_trait,
};
use tokio::time::timeout;

use crate::credentials;
use crate::error::storage_error;
use crate::export::export;
use crate::import::PostgresImport;
use crate::options::Options;
use crate::storage::PostgresStorage;
use crate::text::can_be_stored;
use crate::writes::{lock_account, remove_courses, replace_revision};

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
        in_time(credentials::create(&self.writer().await?, credential)).await
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        in_time(credentials::list(&self.exporter().await?, account)).await
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        in_time(credentials::revoke(&self.writer().await?, id, at)).await
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        in_time(credentials::find(&self.exporter().await?, id)).await
    }

    async fn rotate_credential(
        &self,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        in_time(credentials::rotate(&self.writer().await?, id, ends_at, successor)).await
    }

    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        in_time(credentials::note_uses(&self.writer().await?, uses)).await
    }
}

/// How long a call about credentials may take. An import or an export takes as long as it takes.
const DEADLINE: Duration = Duration::from_secs(15);

/// The call's outcome, or an error once the database has been silent for too long: it may wait for a lock, or for a standby
/// that is to have every commit.
async fn in_time<T>(call: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
    timeout(DEADLINE, call).await.unwrap_or_else(|_| {
        let message = "the database did not confirm it in time, so it may be done or not; look when the database answers \
                       again";
        Err(StorageError::new(StorageErrorKind::Unavailable, message))
    })
}
