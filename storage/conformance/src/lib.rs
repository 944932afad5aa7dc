//! The suite that every storage of the course catalogue passes, ours and a host's.
//!
//! | The storage reads | It is tested by | With |
//! | --- | --- | --- |
//! | courses | [`course_storage_tests!`] | a [`CourseFixture`] |
//! | credentials | [`credential_storage_tests!`] | a [`CredentialFixture`] |
//! | both | [`course_and_credential_storage_tests!`] | both of them |
//! | both, and is an [`AdminStorage`] | [`tests!`] | an empty storage |
//!
//! Each makes a named test of each of its cases. What a host writes is how the suite puts data into its tables. Here the
//! host is a map of courses; `Courses` is what it gives to the catalogue, and the rest is all that its tests need:
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::RwLock;
//!
//! use catalogue_core::{
//!     AccountId, Course, CourseDetail, CourseListItem, CourseStorage, Module, Page, PageRequest, Position,
//!     StorageError, async_trait,
//! };
//! use catalogue_storage_conformance::CourseFixture;
//!
//! /// The host's courses, by account and slug.
//! #[derive(Debug, Default)]
//! struct Courses(RwLock<HashMap<(AccountId, String), Course>>);
//!
//! #[async_trait]
//! impl CourseStorage for Courses {
//!     async fn list_courses(&self, account: &AccountId, page: &PageRequest) -> Result<Page<CourseListItem>, StorageError> {
//!         let courses = self.0.read().unwrap();
//!         let mut rows: Vec<_> = courses
//!             .values()
//!             .filter(|course| course.account == *account)
//!             .map(|course| (Position { created_at: course.created_at, slug: course.slug.clone() }, course))
//!             .filter(|(position, _)| page.after.as_ref().is_none_or(|after| position < after))
//!             .collect();
//!         rows.sort_by(|(one, _), (two, _)| two.cmp(one));
//!         let rows = rows.into_iter().map(|(position, course)| {
//!             let item = CourseListItem {
//!                 slug: course.slug.clone(),
//!                 title: course.title.clone(),
//!                 language: course.language.clone(),
//!                 published_at: course.published_at,
//!                 hidden: course.hidden,
//!                 module_count: course.modules.len() as u32,
//!             };
//!             (item, position.created_at)
//!         });
//!         Ok(Page::from_rows(rows, page.limit))
//!     }
//!
//!     async fn find_course(&self, account: &AccountId, slug: &str) -> Result<Option<CourseDetail>, StorageError> {
//!         let courses = self.0.read().unwrap();
//!         let course = courses.get(&(account.clone(), slug.to_owned()));
//!         Ok(course.cloned().map(|course| CourseDetail {
//!             slug: course.slug,
//!             title: course.title,
//!             tagline: course.tagline,
//!             language: course.language,
//!             published_at: course.published_at,
//!             hidden: course.hidden,
//!             access_mode: course.access_mode,
//!             modules: (1..)
//!                 .zip(course.modules)
//!                 .map(|(number, module)| Module { number, title: module.title, summary: module.summary })
//!                 .collect(),
//!         }))
//!     }
//! }
//!
//! // From here on it is the host's `tests/conformance.rs`.
//!
//! struct Host(Courses);
//!
//! impl CourseFixture for Host {
//!     type Storage = Courses;
//!
//!     fn storage(&self) -> &Courses {
//!         &self.0
//!     }
//!
//!     async fn put_course(&self, course: &Course) {
//!         self.0.0.write().unwrap().insert((course.account.clone(), course.slug.clone()), course.clone());
//!     }
//!
//!     async fn remove_course(&self, account: &AccountId, slug: &str) {
//!         self.0.0.write().unwrap().remove(&(account.clone(), slug.to_owned()));
//!     }
//!
//!     // Only a host whose tables hold less than a course can be has this.
//!     // A host whose tables hold less than a course can be says so here, in `fn limits`: see `CourseLimits`.
//! }
//!
//! async fn host() -> Host {
//!     Host(Courses::default())
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
//! Each test makes a fixture of its own, so that tests can run side by side; a fixture that holds a temporary directory
//! or a schema removes it when it is dropped. A host whose account ids are numbers maps the names of the cases to its
//! own ids ([`CourseFixture::account`]), and one whose tables hold less says what they cannot hold ([`CourseLimits`],
//! [`CredentialLimits`]).
//!
//! A case fails by panicking, with the rule of the contract that was broken. The contract stands on [`CourseStorage`],
//! [`CredentialStorage`] and [`AdminStorage`]. The cases are plain functions in modules by topic, so a storage that
//! needs something around them can call them by itself, on a runtime of several threads. A storage that keeps no
//! revisions passes their cases. The crate has no features.

#![expect(clippy::missing_panics_doc, reason = "panicking is how a case fails")]

use std::future::Future;

use catalogue_core::{AdminStorage, CourseStorage, CredentialStorage};

pub mod administration;
pub mod courses;
pub mod credentials;
pub mod together;

mod cases;
mod fixture;
mod limits;
mod looking_up;
mod random;
mod reading;
mod seed;
mod texts;
mod threads;
mod under_way;
mod variants;

#[doc(hidden)]
pub use cases::CASES;
pub use fixture::{CourseFixture, CredentialFixture};
pub use limits::{CourseLimits, CredentialLimits, Precision};

/// What [`tests!`] runs on: a storage that can be read and written. It is a fixture of itself.
pub trait Storage: CourseStorage + CredentialStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + AdminStorage> Storage for S {}

/// Runs a case to its end on a runtime of its own, which has threads of its own for the tasks of a storage.
#[doc(hidden)]
pub fn run<F: Future>(case: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().expect("a runtime can be built").block_on(case)
}
