//! A host application whose reads fail during another program's long write. Its fixture must declare this, or cases fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_storage_conformance::{courses, credentials, run};

use crate::assert_caught;
use crate::host::Host;

/// Message of each failed read, which the message of a failed case contains.
const LOCKED: &str = "another program is writing";

/// A lock of which only every `one_of`th read gets past. Reads are counted, not timed, so results are the same everywhere.
#[derive(Debug)]
pub(crate) struct Lock {
    reads: AtomicUsize,
    one_of: usize,
    kind: StorageErrorKind,
    pub(crate) is_declared: bool,
}

impl Lock {
    /// Creates a lock whose errors the fixture declares.
    pub(crate) fn new(one_of: usize) -> Self {
        Self { reads: AtomicUsize::new(0), one_of, kind: StorageErrorKind::Busy, is_declared: true }
    }

    pub(crate) fn begin_read(&self) -> Result<(), StorageError> {
        let read = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if read.is_multiple_of(self.one_of) { Ok(()) } else { Err(StorageError::new(self.kind, LOCKED)) }
    }
}

#[test]
fn declared_lock_errors_are_retried() {
    let locked = Host::with_lock(Lock::new(2));
    run(courses::concurrency::call_returns_one_consistent_state(&locked));
    run(courses::revision::reads_never_return_older_revision(&locked));
    run(credentials::lookup::credential_is_found_only_by_whole_digest(&locked));
}

#[test]
fn undeclared_lock_errors_fail_the_case() {
    let locked = || Host::with_lock(Lock { is_declared: false, ..Lock::new(2) });
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&locked())));
    let case = credentials::lookup::credential_is_found_only_by_whole_digest;
    assert_caught(LOCKED, || run(case(&locked())));
}

#[test]
fn permanent_lock_errors_fail_the_case() {
    let locked = Host::with_lock(Lock::new(usize::MAX));
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&locked)));
}

#[test]
fn other_errors_fail_the_case() {
    let failing = Host::with_lock(Lock { kind: StorageErrorKind::Other, ..Lock::new(2) });
    assert_caught(LOCKED, || run(courses::concurrency::call_returns_one_consistent_state(&failing)));
}
