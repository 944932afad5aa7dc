//! Administration: credentials, and the doors to import and export.

use catalogue_core::{
    AccountId, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, StorageError, Timestamp, Visitor,
    async_trait,
};

use crate::connection::empty_wal;
use crate::credentials;
use crate::error::storage_error;
use crate::export::export;
use crate::import::SqliteImport;
use crate::storage::SqliteStorage;

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
        credentials::create(&mut self.writer()?, credential)
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.readers.read(|connection| credentials::list(connection, account))
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        credentials::revoke(&self.writer()?, id, at)
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        self.readers.read(|connection| credentials::find(connection, id))
    }

    async fn rotate_credential(
        &self,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        credentials::rotate(&mut self.writer()?, id, ends_at, successor)
    }

    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        // A server notes uses by itself, perhaps long after it has opened the file. A read closes what is open of one that
        // was replaced.
        self.readers.read(|_| Ok(()))?;
        credentials::note_uses(&mut self.readers.database().open_updater()?, uses)
    }
}
