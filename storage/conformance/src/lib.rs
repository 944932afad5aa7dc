//! The suite that every storage of the course catalogue passes, ours and a host's.
//!
//! | The storage keeps | It is tested by | With |
//! | --- | --- | --- |
//! | courses | [`course_storage_tests!`] | a [`CourseFixture`] |
//! | credentials | [`credential_storage_tests!`] | a [`CredentialFixture`] |
//! | both | [`course_and_credential_storage_tests!`] | both of them |
//! | keys, for the developer settings | [`key_storage_tests!`] | a [`KeyFixture`] |
//! | sign-in links and sessions | [`sign_in_storage_tests!`] | a [`SignInFixture`] |
//! | all of that, and is an [`AdminStorage`] | [`tests!`] | an empty storage |
//!
//! Each makes a named test of each of its cases. What a host writes is how the suite puts data into its tables, in its
//! `tests/conformance.rs`. Here the tables are those of a memory storage:
//!
//! ```
//! use catalogue_core::admin::{Account, AdminStorage};
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_core::{AccountId, Course};
//! use catalogue_storage_conformance::{CourseFixture, Fixture};
//!
//! struct Host(MemoryStorage);
//!
//! impl Fixture for Host {}
//!
//! impl CourseFixture for Host {
//!     type Storage = MemoryStorage;
//!
//!     fn storage(&self) -> &MemoryStorage {
//!         &self.0
//!     }
//!
//!     async fn put_course(&self, course: &Course) {
//!         let mut import = self.0.begin_import().await.unwrap();
//!         let account = Account { id: course.account.clone(), name: String::new(), email: String::new() };
//!         import.put_account(&account).await.unwrap();
//!         import.put_course(course).await.unwrap();
//!         import.commit().await.unwrap();
//!     }
//!
//!     async fn remove_course(&self, account: &AccountId, slug: &str) {
//!         assert!(AdminStorage::remove_course(&self.0, account, slug).await.unwrap());
//!     }
//! }
//!
//! async fn host() -> Host {
//!     Host(MemoryStorage::new())
//! }
//!
//! catalogue_storage_conformance::course_storage_tests!(host);
//! # fn main() { catalogue_storage_conformance::run(async { for_every_case().await }) }
//! # async fn for_every_case() {
//! #     use catalogue_storage_conformance::courses;
//! #     courses::list::ties_are_ordered_by_slug_descending_by_bytes(&host().await).await;
//! #     courses::paging_under_change::a_walk_meets_every_lasting_course_once(&host().await).await;
//! # }
//! ```
//!
//! Each test makes a fixture of its own, which removes what it holds when it is dropped, so tests can run side by side. A
//! host whose account ids are numbers maps the names of the cases to its own ([`Fixture::account`]), and one whose tables
//! hold less says so: how finely they keep times ([`Fixture::precision`]), which slugs they hold, and what has no room.
//!
//! A case fails by panicking, with the broken rule of the contract, which stands on [`CourseStorage`],
//! [`CredentialStorage`], [`KeyStorage`](catalogue_core::storage::KeyStorage), [`SignInStorage`] and [`AdminStorage`]. The
//! cases are plain functions in modules by topic, so a storage that needs something around them can call them by itself, on
//! a runtime of several threads. A storage without revisions passes
//! their cases, and so does one without revocations of signed tokens. The crate has no features.

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

use std::future::Future;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, SignInStorage};

pub mod administration;
pub mod courses;
pub mod credentials;
pub mod keys;
pub mod sign_ins;
pub mod together;

mod at_once;
mod cases;
mod fixture;
mod key_calls;
mod looking_up;
mod macros;
mod random;
mod reading;
#[doc(hidden)]
pub mod sample;
mod seed;
mod sign_in_calls;
mod texts;
mod variants;

#[doc(hidden)]
pub use cases::CASES;
pub use fixture::{AccountFixture, CourseFixture, CredentialFixture, Fixture, KeyFixture, Precision, SignInFixture};

/// What [`tests!`] runs on: a storage that can be read and written. It is a fixture of itself.
pub trait Storage: CourseStorage + CredentialStorage + SignInStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + SignInStorage + AdminStorage> Storage for S {}

/// Runs a case to its end on a runtime of its own, which has threads of its own for the tasks of a storage.
#[doc(hidden)]
pub fn run<F: Future>(case: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().expect("a runtime can be built").block_on(case)
}
