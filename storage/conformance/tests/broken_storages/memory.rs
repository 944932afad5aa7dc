//! The calls of a memory storage, which never waits, as plain functions.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, Record,
    RemovedAccount, Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, StorageError};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp};

/// The result of a future that never waits, as those of the memory storage.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the memory storage never waits"),
    }
}

pub(crate) fn list(memory: &MemoryStorage, account: &AccountId, page: &PageRequest, rows: &mut CourseRows<'_>) {
    now(memory.list_courses(account, page, rows)).unwrap();
}

pub(crate) fn find(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Option<CourseDetail> {
    now(memory.find_course(account, slug)).unwrap().value
}

pub(crate) fn credential(memory: &MemoryStorage, digest: &TokenDigest) -> Option<Credential> {
    now(memory.find_credential(digest)).unwrap()
}

/// All that a call shows.
fn collected<T: Send>(call: impl FnOnce(&mut Visitor<'_, T>) -> Result<(), StorageError>) -> Vec<T> {
    let mut all = Vec::new();
    let mut visit = |one| {
        all.push(one);
        ControlFlow::Continue(())
    };
    call(&mut visit).unwrap();
    all
}

pub(crate) fn summaries(memory: &MemoryStorage, accounts: Accounts<'_>, at: Timestamp) -> Vec<AccountSummary> {
    collected(|visit| now(memory.list_accounts(accounts, at, visit)))
}

pub(crate) fn remove_account(memory: &MemoryStorage, account: &AccountId) -> Option<RemovedAccount> {
    now(memory.remove_account(account)).unwrap()
}

pub(crate) fn all_credentials(memory: &MemoryStorage) -> Vec<CredentialRecord> {
    collected(|visit| now(memory.visit_credentials(visit)))
}

pub(crate) fn credentials(memory: &MemoryStorage, account: &AccountId) -> Option<Vec<CredentialRecord>> {
    now(memory.list_credentials(account)).unwrap()
}

pub(crate) fn revoke(memory: &MemoryStorage, id: &str, at: Timestamp) -> Option<CredentialRecord> {
    now(memory.revoke_credential(id, at)).unwrap()
}

pub(crate) fn record(memory: &MemoryStorage, id: &str) -> Option<CredentialRecord> {
    now(memory.find_credential_record(id)).unwrap()
}

pub(crate) fn rotate(
    memory: &MemoryStorage,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Result<Option<CredentialRecord>, StorageError> {
    now(memory.rotate_credential(id, ends_at, successor))
}

pub(crate) fn note(memory: &MemoryStorage, uses: &[CredentialUse]) -> Result<(), StorageError> {
    now(memory.note_uses(uses))
}

pub(crate) fn create(memory: &MemoryStorage, credential: &NewCredential) -> Result<(), StorageError> {
    now(memory.create_credential(credential))
}

pub(crate) fn begin(memory: &MemoryStorage) -> Result<Box<dyn Import>, StorageError> {
    now(memory.begin_import())
}

pub(crate) fn remove(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
    now(memory.remove_course(account, slug))
}

/// All that an export shows.
pub(crate) fn records(memory: &MemoryStorage) -> Vec<Record> {
    collected(|visit| now(memory.export(Accounts::All, visit)))
}

/// The courses of every account.
pub(crate) fn courses(memory: &MemoryStorage) -> Vec<Course> {
    let course = |record| match record {
        Record::Course(course) => Some(course),
        Record::Account(_) => None,
    };
    records(memory).into_iter().filter_map(course).collect()
}

/// The ids of all accounts.
pub(crate) fn accounts(memory: &MemoryStorage) -> Vec<AccountId> {
    let id = |record| match record {
        Record::Account(account) => Some(account.id),
        Record::Course(_) => None,
    };
    records(memory).into_iter().filter_map(id).collect()
}
