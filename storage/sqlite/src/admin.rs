//! Administration: credentials, and the doors to import and export.

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, RemovedAccount,
    Visitor,
};
use catalogue_core::storage::{KeyStorage as _, StorageError};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::accounts;
use crate::credentials;
use crate::error::storage_error;
use crate::export::export;
use crate::import::SqliteImport;
use crate::locks::ADMINISTRATION_WAIT;
use crate::storage::SqliteStorage;

#[async_trait]
impl AdminStorage for SqliteStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        Ok(Box::new(SqliteImport::begin(self.begin()?)?))
    }

    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        let mut connection = self.readers.database().open_exporter()?;
        export(&mut connection, accounts, visit).map_err(storage_error)
    }

    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        let mut connection = self.readers.database().open_exporter()?;
        accounts::list(&mut connection, accounts, now, visit).map_err(storage_error)
    }

    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError> {
        accounts::remove(self.begin_patiently()?, account)
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        let sql = "DELETE FROM courses WHERE account_id = ?1 AND slug = ?2";
        let transaction = self.begin()?;
        let removed = transaction.execute(sql, [account.as_str(), slug]).map_err(storage_error)?;
        transaction.commit()?;
        Ok(removed > 0)
    }

    async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
        let transaction = self.begin_patiently()?;
        credentials::insert(&transaction, credential)?;
        transaction.commit()
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.list_keys(account).await
    }

    async fn visit_credentials(&self, visit: &mut Visitor<'_, CredentialRecord>) -> Result<(), StorageError> {
        let connection = self.readers.database().open_exporter()?;
        credentials::visit_all(&connection, visit).map_err(storage_error)
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        let transaction = self.begin_patiently()?;
        let Some(found) = credentials::find(&transaction, id).map_err(storage_error)? else { return Ok(None) };
        let revoked = credentials::revoke(&transaction, &found.identity.account, id, at)?;
        transaction.commit()?;
        Ok(revoked.map(|(record, _)| record))
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        let read = || self.readers.read(|connection| credentials::find(connection, id));
        self.readers.locks.wait_out(ADMINISTRATION_WAIT, read).await
    }

    async fn rotate_credential(
        &self,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        let transaction = self.begin_patiently()?;
        let ended = credentials::rotate(&transaction, &successor.record.identity.account, id, ends_at, successor)?;
        transaction.commit()?;
        Ok(ended)
    }

    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        let uses = uses.to_vec();
        self.write(move |transaction| credentials::note_uses(transaction, &uses).map_err(storage_error)).await
    }
}
