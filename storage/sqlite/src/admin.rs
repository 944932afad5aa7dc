//! [`AdminStorage`]: imports, exports, accounts, courses, credentials and revocations.

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, RemovedAccount, Visitor,
};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::accounts;
use crate::connection::BUSY_TIMEOUT;
use crate::credentials;
use crate::error::storage_error;
use crate::export::export;
use crate::import::SqliteImport;
use crate::readers::ADMINISTRATION_WAIT;
use crate::revocations;
use crate::storage::SqliteStorage;
use crate::write::LONG_LOCK_TIMEOUT;

#[async_trait]
impl AdminStorage for SqliteStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        self.require_own_courses("imported")?;
        Ok(Box::new(SqliteImport::begin(self.begin(BUSY_TIMEOUT)?)?))
    }

    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        self.require_own_courses("exported")?;
        let mut connection = self.readers.database().open_exporter()?;
        export(&mut connection, accounts, visit).map_err(storage_error)
    }

    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        if let Some(views) = &self.views {
            return self.list_viewed_accounts(views, accounts, now, visit);
        }
        let mut connection = self.readers.database().open_exporter()?;
        accounts::list(&mut connection, accounts, now, visit).map_err(storage_error)
    }

    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError> {
        self.require_own_courses("removed")?;
        accounts::remove(self.begin(LONG_LOCK_TIMEOUT)?, account)
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        self.require_own_courses("removed")?;
        let sql = "DELETE FROM courses WHERE account_id = ?1 AND slug = ?2";
        let transaction = self.begin(BUSY_TIMEOUT)?;
        let removed = transaction.execute(sql, [account.as_str(), slug]).map_err(storage_error)?;
        transaction.commit()?;
        Ok(removed > 0)
    }

    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError> {
        let connection = self.readers.database().open_exporter()?;
        credentials::visit(&connection, accounts, visit).map_err(storage_error)
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        self.readers.read_within(ADMINISTRATION_WAIT, |connection| credentials::find(connection, id))
    }

    async fn record_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        let uses = uses.to_vec();
        self.write(move |connection| credentials::record_uses(connection, &uses).map_err(storage_error)).await
    }

    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let digests = digests.to_vec();
        self.write(move |connection| revocations::add(connection, &digests, expires_at, at).map_err(storage_error))
            .await
    }
}
