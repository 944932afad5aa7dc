//! The course catalogue read API from [`http::Request`] to [`http::Response`], without framework, runtime or database.
//!
//! Professionals publish courses made of ordered modules; approved partner applications read a creator's own courses
//! through it. [`Catalogue::call`] turns any request into a response and cannot fail; what it reads comes from a
//! [`CourseStorage`], and who calls is found out by an [`Authenticator`].
//!
//! ```
//! use catalogue_core::{Catalogue, MemoryStorage};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build()?;
//!
//! let request = http::Request::get("/api/v1/courses").body(())?;
//! let response = catalogue.call(request).await;
//! assert_eq!(response.status(), http::StatusCode::UNAUTHORIZED);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
//! ```
//!
//! A request walks through these rooms once: route, bearer token, authenticator, scope gate, parameters, rate limit,
//! operation, envelope. Module bodies are in no type that can reach an answer.
//!
//! Sections and decisions that are named in the docs are those of the specification of the course catalogue read API.
//!
//! # What a host brings
//! | The host has | It implements | And builds with |
//! | --- | --- | --- |
//! | courses in tables of its own | [`CourseStorage`], two methods | [`Catalogue::builder`] |
//! | keys in a table of its own, as digests | [`CredentialStorage`], one method; expiry and revocation are judged here | [`Catalogue::with_api_keys`] where one storage holds both, else [`StoredCredentials`] |
//! | sessions, or tokens that a service knows | [`Authenticator`], one method | [`Catalogue::builder`], or [`or_authenticator`](CatalogueBuilder::or_authenticator) after another |
//! | callers whom it knows already | nothing | [`Catalogue::call_as`] with an [`Identity`] |
//! | a rate limit | nothing, with [`LocalRateLimiter`]; for several servers a [`RateLimiter`] | [`rate_limiter`](CatalogueBuilder::rate_limiter), and a [`ClientAddress`] with each request |
//! | metrics and logs | [`Observer`] | [`observer`](CatalogueBuilder::observer) |
//!
//! [`MemoryStorage`] is for tests and trials. The traits are asynchronous by the macro [`async_trait`](macro@async_trait),
//! which is exported here, so that a host needs no dependency for it.
//!
//! An answer 500 says nothing of its cause; that goes to `tracing`, with the answer's request id. A host that subscribes to
//! nothing never sees it.
//!
//! # What cannot be forgotten
//! A catalogue without an authenticator does not compile:
//!
//! ```compile_fail,E0061
//! # use catalogue_core::{Catalogue, MemoryStorage};
//! let catalogue = Catalogue::builder(MemoryStorage::new()).build();
//! ```
//!
//! nor does one whose storage was never told to look credentials up:
//!
//! ```compile_fail,E0277
//! # use catalogue_core::{AccountId, Catalogue, CourseDetail, CourseListItem, CourseStorage, Page, PageRequest};
//! # use catalogue_core::{StorageError, async_trait};
//! # #[derive(Debug)]
//! # struct Courses;
//! # #[async_trait]
//! # impl CourseStorage for Courses {
//! #     async fn list_courses(&self, _: &AccountId, _: &PageRequest) -> Result<Page<CourseListItem>, StorageError> {
//! #         unimplemented!()
//! #     }
//! #     async fn find_course(&self, _: &AccountId, _: &str) -> Result<Option<CourseDetail>, StorageError> {
//! #         unimplemented!()
//! #     }
//! # }
//! let catalogue = Catalogue::with_api_keys(Courses).build(); // `Courses` is a `CourseStorage` alone
//! ```
//!
//! and nobody but the gate makes an [`Authorized`]:
//!
//! ```compile_fail,E0423
//! # use catalogue_core::{AccountId, Authorized, Identity, Scopes};
//! let caller = Authorized(Identity::api_key(AccountId::new("acc_1"), "key_1", Scopes::default()));
//! ```
//!
//! Settings that contradict each other are a [`BuildError`] that says what would be right.
//!
//! # Features and dependencies
//! There are no features. Public signatures name the types of `http` and `bytes` alone, beside the macro
//! [`async_trait`](macro@async_trait). Types of an answer implement `serde::Serialize`; that some implement a trait of
//! `schemars` serves the documents made here and is no promise.

mod address;
mod auth;
mod builder;
mod catalogue;
mod coding;
mod conditional;
mod cors;
mod cursor;
mod documents;
mod entity;
mod envelope;
mod error;
mod in_flight;
mod limit;
mod list_body;
mod model;
mod negotiation;
mod observer;
mod operation;
mod page_cache;
mod paging;
mod panic_guard;
mod rendering;
mod request_id;
mod route;
mod storage;
mod timestamp;
mod trace_parent;

pub use async_trait::async_trait;

pub use address::AddressError;
pub use auth::{
    Authenticator, Authorized, BearerToken, Credential, CredentialKind, Identity, NewToken, OtherScope, Refusal, Scope,
    Scopes, StoredCredentials, TokenDigest, Verdict, is_api_key, token_kind,
};
pub use builder::{BuildError, CatalogueBuilder};
pub use catalogue::Catalogue;
pub use documents::DocumentFormat;
pub use error::ErrorCode;
pub use limit::{
    ClientAddress, InvalidRateLimit, LimiterFuture, LocalRateLimiter, RateLimit, RateLimitKey, RateLimiter, Taken,
};
pub use model::{AccountId, CourseDetail, CourseListItem, CourseRow, MAX_SLUG_BYTES, Module, is_slug};
pub use observer::{ExceededLimit, FinishedRequest, Observer};
pub use operation::Operation;
pub use page_cache::PageCacheStatistics;
pub use paging::{Limit, Page, PageRequest, Position};
pub use storage::{
    Account, AdminStorage, AtRevision, Change, Course, CourseModule, CourseStorage, CourseVisitor, CredentialRecord,
    CredentialStorage, CredentialUse, Import, MemoryStorage, NewCredential, Record, Revision, StorageError,
    StorageErrorKind, Visitor,
};
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use trace_parent::TraceParent;
