//! [`Rehearsal`]: what an import would do to a PostgreSQL database without tables, found out in memory.

use catalogue_core::{
    Account, AccountId, AdminStorage, Change, Course, CredentialRecord, Import, NewCredential, StorageError,
    StorageErrorKind, Timestamp, Visitor, async_trait,
};
use catalogue_sqlite::SqliteStorage;

use crate::import::zero;

/// A storage in memory that takes what PostgreSQL takes: texts without U+0000.
#[derive(Debug)]
pub(super) struct Rehearsal(pub(super) SqliteStorage);

struct RehearsedImport(Box<dyn Import>);

#[async_trait]
impl AdminStorage for Rehearsal {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        Ok(Box::new(RehearsedImport(self.0.begin_import().await?)))
    }

    async fn export(&self, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        self.0.export(visit).await
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        self.0.remove_course(account, slug).await
    }

    async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
        self.0.create_credential(credential).await
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.0.list_credentials(account).await
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        self.0.revoke_credential(id, at).await
    }
}

#[async_trait]
impl Import for RehearsedImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        check(zero::field_of_account(account).is_none())?;
        self.0.put_account(account).await
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        self.0.creation_time(account, slug).await
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        check(zero::field_of_course(course).is_none())?;
        self.0.put_course(course).await
    }

    async fn prune(&mut self) -> Result<u64, StorageError> {
        self.0.prune().await
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        self.0.commit().await
    }
}

fn check(can_be_stored: bool) -> Result<(), StorageError> {
    if can_be_stored {
        return Ok(());
    }
    let message = "a text has the character U+0000, which PostgreSQL cannot hold";
    Err(StorageError::new(StorageErrorKind::InvalidValue, message))
}
