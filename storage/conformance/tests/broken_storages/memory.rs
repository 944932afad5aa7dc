//! The calls of a memory storage, which never waits, as plain functions.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use catalogue_core::admin::{
    Account, AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, Record,
    RemovedAccount, Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession,
    NewSignIn, PageRequest, Session, SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp};

/// Runs a future that never waits, like those of the memory storage, and returns its result.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the memory storage never waits"),
    }
}

pub(crate) fn list(memory: &MemoryStorage, account: &AccountId, page: &PageRequest, rows: &mut CourseRows<'_>) {
    run(memory.list_courses(account, page, rows)).unwrap();
}

pub(crate) fn find(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Option<CourseDetail> {
    run(memory.find_course(account, slug)).unwrap().value
}

pub(crate) fn credential(memory: &MemoryStorage, digest: &TokenDigest) -> Option<Credential> {
    run(memory.find_credential(digest)).unwrap()
}

/// Returns all values that a call visits.
fn collected<T: Send>(call: impl FnOnce(&mut Visitor<'_, T>) -> Result<(), StorageError>) -> Vec<T> {
    let mut all = Vec::new();
    let mut visit = |value| {
        all.push(value);
        ControlFlow::Continue(())
    };
    call(&mut visit).unwrap();
    all
}

pub(crate) fn summaries(memory: &MemoryStorage, accounts: Accounts<'_>, at: Timestamp) -> Vec<AccountSummary> {
    collected(|visit| run(memory.list_accounts(accounts, at, visit)))
}

pub(crate) fn remove_account(memory: &MemoryStorage, account: &AccountId) -> Option<RemovedAccount> {
    run(memory.remove_account(account)).unwrap()
}

pub(crate) fn all_credentials(memory: &MemoryStorage, accounts: Accounts<'_>) -> Vec<CredentialRecord> {
    collected(|visit| run(memory.visit_credentials(accounts, visit)))
}

pub(crate) fn credentials(memory: &MemoryStorage, account: &AccountId) -> Option<Vec<CredentialRecord>> {
    keys(memory, account, Timestamp::MAX, usize::MAX)
}

pub(crate) fn keys(
    memory: &MemoryStorage,
    account: &AccountId,
    at: Timestamp,
    ended: usize,
) -> Option<Vec<CredentialRecord>> {
    run(memory.list_keys(account, at, ended)).unwrap()
}

pub(crate) fn key(memory: &MemoryStorage, account: &AccountId, id: &str) -> Option<CredentialRecord> {
    run(memory.find_key(account, id)).unwrap()
}

pub(crate) fn rename(
    memory: &MemoryStorage,
    account: &AccountId,
    id: &str,
    name: &str,
    by: &Actor,
) -> Option<CredentialRecord> {
    run(memory.rename_key(account, id, name, by)).unwrap()
}

pub(crate) fn revoke(
    memory: &MemoryStorage,
    account: &AccountId,
    id: &str,
    at: Timestamp,
    by: &Actor,
) -> Option<CredentialRecord> {
    run(memory.revoke_key(account, id, at, by)).unwrap()
}

pub(crate) fn events(memory: &MemoryStorage, account: &AccountId, limit: usize) -> Vec<CredentialEvent> {
    run(memory.list_events(account, limit)).unwrap()
}

pub(crate) fn record(memory: &MemoryStorage, id: &str) -> Option<CredentialRecord> {
    run(memory.find_credential_record(id)).unwrap()
}

pub(crate) fn rotate(
    memory: &MemoryStorage,
    account: &AccountId,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
    by: &Actor,
) -> Result<Option<CredentialRecord>, StorageError> {
    run(memory.rotate_key(account, id, ends_at, successor, by))
}

pub(crate) fn record_uses(memory: &MemoryStorage, uses: &[CredentialUse]) -> Result<(), StorageError> {
    run(memory.record_uses(uses))
}

pub(crate) fn create(memory: &MemoryStorage, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
    run(memory.create_key(key, by))
}

pub(crate) fn create_link(memory: &MemoryStorage, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
    run(memory.create_link(link, by))
}

pub(crate) fn exchange(
    memory: &MemoryStorage,
    link: &TokenDigest,
    at: Timestamp,
    session: &NewSession,
) -> Option<Account> {
    run(memory.exchange_link(link, at, session)).unwrap()
}

pub(crate) fn session(memory: &MemoryStorage, digest: &TokenDigest) -> Option<Session> {
    run(memory.find_session(digest)).unwrap()
}

pub(crate) fn end_session(memory: &MemoryStorage, digest: &TokenDigest) {
    run(memory.end_session(digest)).unwrap();
}

pub(crate) fn is_revoked(memory: &MemoryStorage, digest: &TokenDigest) -> Option<bool> {
    run(memory.is_revoked(digest)).unwrap()
}

pub(crate) fn revoke_tokens(
    memory: &MemoryStorage,
    digests: &[TokenDigest],
    expires_at: Timestamp,
    at: Timestamp,
) -> Result<(), StorageError> {
    run(memory.revoke_tokens(digests, expires_at, at))
}

pub(crate) fn sign_out(memory: &MemoryStorage, account: &AccountId, by: &Actor) -> u64 {
    run(memory.end_sign_ins(account, by)).unwrap()
}

pub(crate) fn begin(memory: &MemoryStorage) -> Result<Box<dyn Import>, StorageError> {
    run(memory.begin_import())
}

pub(crate) fn remove(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
    run(memory.remove_course(account, slug))
}

/// Returns all exported records.
pub(crate) fn records(memory: &MemoryStorage) -> Vec<Record> {
    collected(|visit| run(memory.export(Accounts::All, visit)))
}

/// Returns the courses of all accounts.
pub(crate) fn courses(memory: &MemoryStorage) -> Vec<Course> {
    let course = |record| match record {
        Record::Course(course) => Some(course),
        Record::Account(_) => None,
    };
    records(memory).into_iter().filter_map(course).collect()
}

/// Returns the ids of all accounts.
pub(crate) fn accounts(memory: &MemoryStorage) -> Vec<AccountId> {
    let id = |record| match record {
        Record::Account(account) => Some(account.id),
        Record::Course(_) => None,
    };
    records(memory).into_iter().filter_map(id).collect()
}
