//! Administration: credentials, and the doors to import and export. Each call has a connection of its own.

use catalogue_core::{
    AccountId, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, StorageError, Timestamp, Visitor,
    async_trait,
};

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
        credentials::create(&self.writer().await?, credential).await
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        credentials::list(&self.exporter().await?, account).await
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        credentials::revoke(&self.writer().await?, id, at).await
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        if !can_be_stored(id) {
            return Ok(None);
        }
        credentials::find(&self.exporter().await?, id).await
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
        credentials::rotate(&self.writer().await?, id, ends_at, successor).await
    }

    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        credentials::note_uses(&self.writer().await?, uses).await
    }
}
