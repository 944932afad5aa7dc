//! Administration of accounts, courses, credentials and revocations. Each call except `status` opens a connection.

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, RemovedAccount, Visitor,
};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{StorageError, StorageErrorKind, StorageStatus};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::accounts::{self, COURSES_OF, NAMED_ACCOUNTS, PAGE_OF_ALL};
use crate::citus;
use crate::credentials;
use crate::export::export;
use crate::import::PostgresImport;
use crate::revocations;
use crate::sign_ins::retention_cutoff;
use crate::storage::PostgresStorage;
use crate::text::storable;
use crate::transaction::{BULK_DEADLINE, DEADLINE, LONG_LOCK_TIMEOUT, transact, with_deadline};
use crate::views::{CREDENTIAL_OWNERS, Statement};
use crate::writes::{lock_account, remove_course, replace_revision};

#[async_trait]
impl AdminStorage for PostgresStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        self.require_own_courses("cannot import")?;
        Ok(Box::new(PostgresImport::begin(self.importer().await?).await?))
    }

    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        self.require_own_courses("cannot export")?;
        export(&self.exporter().await?, accounts, visit).await
    }

    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        let of_views = self.views.as_ref().map(|views| views.statements.accounts.each_ref().map(Statement::sql));
        let sql = of_views.unwrap_or([PAGE_OF_ALL, NAMED_ACCOUNTS, COURSES_OF]);
        accounts::list(&self.exporter().await?, accounts, now, sql, visit).await
    }

    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError> {
        self.require_own_courses("cannot remove the account")?;
        let Some([account]) = storable([account.as_str()]) else { return Ok(None) };
        let connection = self.writer().await?;
        transact(&connection, BULK_DEADLINE, LONG_LOCK_TIMEOUT, || accounts::remove(&connection, account)).await
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        self.require_own_courses("cannot remove the course")?;
        let Some([_, slug]) = storable([account.as_str(), slug]) else { return Ok(false) };
        let connection = self.writer().await?;
        let remove = || async {
            let exists = lock_account(&connection, account).await? && remove_course(&connection, account, slug).await?;
            if !exists {
                return Ok(None);
            }
            replace_revision(&connection, account).await.map(Some)
        };
        Ok(self.transact(&connection, remove).await?.is_some())
    }

    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError> {
        // Includes credentials of an account that has left the view.
        let sql = if self.views.is_some() { CREDENTIAL_OWNERS } else { [PAGE_OF_ALL, NAMED_ACCOUNTS] };
        credentials::visit(&self.exporter().await?, accounts, sql, visit).await
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        let Some([id]) = storable([id]) else { return Ok(None) };
        with_deadline(DEADLINE, credentials::find(&self.exporter().await?, id)).await
    }

    async fn record_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        if uses.is_empty() {
            return Ok(());
        }
        let connection = self.writer().await?;
        let record = || credentials::record_uses(&connection, uses);
        if connection.is_distributed {
            return with_deadline(DEADLINE, record()).await.map(|_| ());
        }
        self.transact(&connection, record).await.map(|_| ())
    }

    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        let connection = self.writer().await?;
        self.transact(&connection, || revocations::add(&connection, digests, expires_at, at)).await?;
        if connection.is_distributed {
            citus::purge(&connection, &citus::PURGE_REVOCATIONS, retention_cutoff(at)).await;
        }
        Ok(())
    }

    async fn status(&self) -> Option<StorageStatus> {
        let status = self.readers.status().await;
        Some(StorageStatus { is_distributed: self.is_distributed, problems: self.problems().await, ..status })
    }
}

impl PostgresStorage {
    /// Returns an error if courses are in views: then they belong to the host application, which changes and exports them.
    fn require_own_courses(&self, failure: &str) -> Result<(), StorageError> {
        if self.views.is_none() {
            return Ok(());
        }
        let message = format!("{failure}: accounts and courses belong to another program; use that program");
        Err(StorageError::new(StorageErrorKind::Unsupported, message))
    }
}
