//! The test suite that every storage of the course catalogue passes, whether built-in or a host application's.
//!
//! | The storage holds | Macro | Tests run on |
//! | --- | --- | --- |
//! | courses | [`course_storage_tests!`] | a [`CourseFixture`] |
//! | credentials | [`credential_storage_tests!`] | a [`CredentialFixture`] |
//! | both | [`course_and_credential_storage_tests!`] | both of them |
//! | keys, for the developer settings | [`key_storage_tests!`] | a [`KeyFixture`] |
//! | sign-in links and sessions | [`sign_in_storage_tests!`] | a [`SignInFixture`] |
//! | all of these, and is an [`AdminStorage`] | [`tests!`] | an empty storage |
//!
//! Each macro expands to a named test per case. A host application writes only a fixture, in its `tests/conformance.rs`, which
//! puts the suite's data into its tables.
//!
#![doc = include_str!("fixtures.md")]
//!
//! Each test creates its own fixture, which removes its data when it is dropped, so tests can run in parallel. If account ids
//! are numbers, the fixture maps the names of the cases to ids ([`Fixture::account`]). It can declare that the tables store
//! less: the precision of times ([`Fixture::precision`]), the slugs that they accept, and the fields of courses that they lack.
//! It cannot declare that they accept only some scopes or names of keys: then `lookup::scopes_are_stored_unchanged` and
//! `key_changes::key_accepts_any_name` fail.
//!
//! A case fails by panicking, with the violated rule of the contract. The contract is documented on [`CourseStorage`],
//! [`CredentialStorage`], [`KeyStorage`](catalogue_core::storage::KeyStorage), [`SignInStorage`] and [`AdminStorage`]. The
//! cases are plain functions in modules by topic, so a test that needs more setup can call them directly, on a multi-threaded
//! runtime. The crate has no features.
//!
//! A case that the storage cannot exercise passes, and prints a line such as `skipped: revision::revision_is_never_reused: the
//! storage has no revisions`. So do cases of revocations of signed tokens and of OAuth tokens.
//!
//! [`NewCredential`]: catalogue_core::admin::NewCredential

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

use std::future::Future;
use std::pin::{Pin, pin};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, SignInStorage};

pub mod administration;
pub mod combined;
pub mod courses;
pub mod credentials;
pub mod keys;
pub mod sign_ins;

mod concurrency;
mod credential_lookup;
mod fixture;
mod key_calls;
mod macros;
mod reading;
#[doc(hidden)]
pub mod sample;
mod seed;
mod sign_in_calls;
mod texts;
mod variants;

pub use fixture::{AccountFixture, CourseFixture, CredentialFixture, Fixture, KeyFixture, Precision, SignInFixture};

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// A storage that can be read and written, which [`tests!`] runs on. It is its own fixture.
pub trait Storage: CourseStorage + CredentialStorage + SignInStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + SignInStorage + AdminStorage> Storage for S {}

/// Runs a case to its end on a dedicated runtime, whose worker threads run the storage's tasks.
#[doc(hidden)]
pub fn run<T>(case: impl Future<Output = T>) -> T {
    // One type for all cases, so that the runtime is compiled once.
    let case: Pin<&mut dyn Future<Output = T>> = pin!(case);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().expect("a runtime can be built").block_on(case)
}
