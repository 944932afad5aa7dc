//! Imports: outcomes of refused records, and conflicts with removals. Also the missing status of a memory storage.

use catalogue_core::admin::{Account, AdminStorage as _, Change, Import, Record};
use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp, async_trait};
use catalogue_storage_conformance::sample;

use crate::app::{OWNER, TestApp, course};

/// Import that accepts accounts, and refuses each course with an error of the kind in the field.
struct Refusing(StorageErrorKind);

#[async_trait]
impl Import for Refusing {
    async fn put_account(&mut self, _: &Account) -> Result<Change, StorageError> {
        Ok(Change::Added)
    }
    async fn creation_time(&mut self, _: &AccountId, _: &str) -> Result<Option<Timestamp>, StorageError> {
        Ok(None)
    }
    async fn put_course(&mut self, _: &Course) -> Result<Change, StorageError> {
        Err(StorageError::new(self.0, "refused"))
    }
    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError> {
        Ok(Vec::new())
    }
    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        Ok(())
    }
}

#[tokio::test]
async fn refused_record_is_reported_and_failure_ends_import() {
    use StorageErrorKind::{InvalidValue, OutcomeUnknown, Unavailable, UnknownReference};

    let account = sample::account("acc_1");
    let records = [Record::Account(account.clone()), Record::Course(course("a", 0)), Record::Account(account)];
    for kind in [UnknownReference, InvalidValue] {
        let outcomes = Refusing(kind).put_all(&records).await.unwrap();
        let kinds = outcomes.iter().map(|outcome| outcome.as_ref().map_err(StorageError::kind).copied());
        assert_eq!(kinds.collect::<Vec<_>>(), [Ok(Change::Added), Err(kind), Ok(Change::Added)]);
    }
    for kind in [Unavailable, OutcomeUnknown] {
        assert_eq!(Refusing(kind).put_all(&records).await.unwrap_err().kind(), kind);
    }
}

/// A memory storage's import changes a copy of the accounts. Its commit must not restore records removed meanwhile.
#[tokio::test]
async fn commit_fails_when_records_were_removed_concurrently() {
    for removes_account in [true, false] {
        let app = TestApp::new().await;
        app.put([course("a", 0)]).await;
        let import = app.storage.begin_import().await.unwrap();
        if removes_account {
            app.storage.remove_account(&OWNER.into()).await.unwrap().unwrap();
        } else {
            assert!(app.storage.remove_course(&OWNER.into(), "a").await.unwrap());
        }
        assert_eq!(import.commit().await.unwrap_err().kind(), StorageErrorKind::Busy);
    }
}

#[tokio::test]
async fn memory_storage_has_no_status() {
    assert!(MemoryStorage::new().status().await.is_none());
}
