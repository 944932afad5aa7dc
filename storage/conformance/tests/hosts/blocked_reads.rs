//! A host application whose reads fail during another program's long write. Its fixture must declare this, or cases fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp, async_trait};
use catalogue_storage_conformance::{CourseFixture, CredentialFixture, Fixture, courses, credentials, run};

use crate::assert_caught;

/// Message of each failed read, which the message of a failed case contains.
const LOCKED: &str = "another program is writing";

/// A storage of which only every `one_of`th read succeeds. Reads are counted, not timed, so results are the same everywhere.
#[derive(Debug)]
struct Blocked {
    memory: MemoryStorage,
    reads: AtomicUsize,
    one_of: usize,
    kind: StorageErrorKind,
    is_declared: bool,
}

impl Blocked {
    fn new(one_of: usize) -> Self {
        let (memory, reads) = (MemoryStorage::new(), AtomicUsize::new(0));
        Self { memory, reads, one_of, kind: StorageErrorKind::Busy, is_declared: true }
    }

    fn begin(&self) -> Result<(), StorageError> {
        let read = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if read.is_multiple_of(self.one_of) { Ok(()) } else { Err(StorageError::new(self.kind, LOCKED)) }
    }
}

#[async_trait]
impl CourseStorage for Blocked {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.begin()?;
        self.memory.list_courses(account, page, rows).await
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.begin()?;
        self.memory.find_course(account, slug).await
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.begin()?;
        self.memory.revision(account).await
    }
}

#[async_trait]
impl CredentialStorage for Blocked {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.begin()?;
        self.memory.find_credential(digest).await
    }
}

impl Fixture for Blocked {
    fn reads_may_be_blocked(&self) -> bool {
        self.is_declared
    }
}

impl CourseFixture for Blocked {
    type Storage = Self;

    fn storage(&self) -> &Self {
        self
    }

    async fn put_course(&self, course: &Course) {
        self.memory.put_course(course).await;
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) {
        CourseFixture::remove_course(&self.memory, account, slug).await;
    }
}

impl CredentialFixture for Blocked {
    type Storage = Self;

    fn storage(&self) -> &Self {
        self
    }

    async fn put_credential(&self, credential: &NewCredential) {
        self.memory.put_credential(credential).await;
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) {
        self.memory.revoke_credential(id, at).await;
    }
}

#[test]
fn declared_lock_errors_are_retried() {
    let locked = Blocked::new(2);
    run(courses::concurrency::call_returns_one_consistent_state(&locked));
    run(courses::revision::reads_never_return_older_revision(&locked));
    run(credentials::lookup::credential_is_found_only_by_whole_digest(&locked));
}

#[test]
fn undeclared_lock_errors_fail_the_case() {
    let locked = || Blocked { is_declared: false, ..Blocked::new(2) };
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&locked())));
    let case = credentials::lookup::credential_is_found_only_by_whole_digest;
    assert_caught(LOCKED, || run(case(&locked())));
}

#[test]
fn permanent_lock_errors_fail_the_case() {
    let locked = Blocked::new(usize::MAX);
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&locked)));
}

#[test]
fn other_errors_fail_the_case() {
    let failing = Blocked { kind: StorageErrorKind::Other, ..Blocked::new(2) };
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&failing)));
}
