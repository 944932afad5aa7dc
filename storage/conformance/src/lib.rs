//! The suite that every storage of the course catalogue passes, ours and a host's.
//!
//! [`tests!`] makes a named test of each case. All that a storage has to write is a fixture: an async function that
//! returns an empty storage, and a guard that cleans up when it is dropped.
//!
//! ```
//! use catalogue_core::MemoryStorage;
//!
//! async fn fixture() -> (MemoryStorage, ()) {
//!     (MemoryStorage::new(), ())
//! }
//!
//! catalogue_storage_conformance::tests!(fixture);
//! # fn main() {} // which makes the lines above stand outside of a function
//! ```
//!
//! In a crate's `tests/conformance.rs` that is the whole file. The guard may be a temporary directory, a schema that is
//! dropped, or `()`. Each test calls the fixture once, so that tests can run side by side.
//!
//! A case fails by panicking, with the rule of the contract that was broken. The contract stands on [`CourseStorage`],
//! [`CredentialStorage`] and [`AdminStorage`]. The cases are plain functions in modules by topic, so a storage that
//! needs something around them can call them by itself. One that keeps no revisions passes the cases of [`revision`].

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

use std::future::Future;

use catalogue_core::{AdminStorage, CourseStorage, CredentialStorage};

pub mod concurrency;
pub mod concurrent_writes;
pub mod credential_lists;
pub mod credentials;
pub mod detail;
pub mod export;
pub mod fields;
pub mod import;
pub mod import_as_a_whole;
pub mod isolation;
pub mod list;
pub mod paging;
pub mod paging_under_change;
pub mod removal;
pub mod revision;

mod cases;
mod random;
mod reading;
mod seed;
mod threads;

#[doc(hidden)]
pub use cases::CASES;

/// What the suite runs on: a storage that can be read and written.
pub trait Storage: CourseStorage + CredentialStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + AdminStorage> Storage for S {}

/// Runs a case to its end on a runtime of its own.
#[doc(hidden)]
pub fn run<F: Future>(case: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built").block_on(case)
}
