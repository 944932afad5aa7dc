//! A host application whose reads fail during another program's long write. Its fixture must declare this, or cases fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::storage::{CourseStorage, CredentialStorage, StorageError, StorageErrorKind};
use catalogue_storage_conformance::{courses, credentials};

use crate::broken::{Broken, run};
use crate::host::Host;
use crate::{caught, run_case};

/// Message of each failed read, which the message of a failed case contains.
const LOCKED: &str = "another program is writing";

/// Creates a host application of which only every `one_of`th read succeeds. Reads are counted, not timed, so results are the
/// same everywhere.
fn locked(one_of: usize, kind: StorageErrorKind) -> Host {
    let reads = Arc::new(AtomicUsize::new(0));
    let begin = move || {
        let read = reads.fetch_add(1, Ordering::SeqCst) + 1;
        if read.is_multiple_of(one_of) { Ok(()) } else { Err(StorageError::new(kind, LOCKED)) }
    };
    let [list, find, revision] = [begin.clone(), begin.clone(), begin.clone()];
    let storage = Broken::new()
        .list_courses(move |memory, account, page, rows| {
            list()?;
            run(memory.list_courses(account, page, rows))
        })
        .find_course(move |memory, account, slug| {
            find()?;
            run(memory.find_course(account, slug))
        })
        .revision(move |memory, account| {
            revision()?;
            run(memory.revision(account))
        })
        .find_credential(move |memory, digest| {
            begin()?;
            run(memory.find_credential(digest))
        });
    Host { reads_may_be_blocked: true, ..Host::over(storage) }
}

#[test]
fn declared_lock_errors_are_retried() {
    let locked = locked(2, StorageErrorKind::Busy);
    run_case(courses::concurrency::call_returns_one_consistent_state(&locked));
    run_case(courses::revision::reads_never_return_older_revision(&locked));
    run_case(credentials::lookup::credential_is_found_only_by_whole_digest(&locked));
}

/// Asserts that both cases fail with the read's error.
fn assert_caught(locked: impl Fn() -> Host) {
    let list = || run_case(courses::concurrency::call_returns_one_consistent_state(&locked()));
    let lookup = || run_case(credentials::lookup::credential_is_found_only_by_whole_digest(&locked()));
    for message in [caught("a list", list), caught("a lookup", lookup)] {
        assert!(message.contains(LOCKED), "caught for another reason: {message}");
    }
}

#[test]
fn undeclared_lock_errors_fail_the_case() {
    assert_caught(|| Host { reads_may_be_blocked: false, ..locked(2, StorageErrorKind::Busy) });
}

#[test]
fn permanent_lock_errors_fail_the_case() {
    assert_caught(|| locked(usize::MAX, StorageErrorKind::Busy));
}

#[test]
fn other_errors_fail_the_case() {
    assert_caught(|| locked(2, StorageErrorKind::Other));
}
