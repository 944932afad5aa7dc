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
//! A request walks through these rooms once: route, bearer token, authenticator, scope gate, parameters, operation,
//! envelope. Module bodies are in no type that can reach an answer.

mod address;
mod auth;
mod builder;
mod catalogue;
mod conditional;
mod cors;
mod cursor;
mod documents;
mod entity;
mod envelope;
mod error;
mod in_flight;
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

pub use async_trait::async_trait;

pub use address::AddressError;
pub use auth::{
    Authenticator, Authorized, BearerToken, Credential, CredentialKind, Identity, NewToken, OtherScope, Refusal, Scope,
    Scopes, StoredCredentials, TokenDigest, Verdict, is_api_key,
};
pub use builder::{BuildError, CatalogueBuilder};
pub use catalogue::Catalogue;
pub use documents::DocumentFormat;
pub use error::ErrorCode;
pub use model::{AccountId, CourseDetail, CourseListItem, CourseRow, MAX_SLUG_BYTES, Module, is_slug};
pub use observer::{FinishedRequest, Observer};
pub use operation::Operation;
pub use page_cache::PageCacheStatistics;
pub use paging::{Limit, Page, PageRequest, Position};
pub use storage::{
    Account, AdminStorage, Change, Course, CourseModule, CourseStorage, CredentialRecord, CredentialStorage, Import,
    MemoryStorage, NewCredential, Record, Revision, StorageError, StorageErrorKind, Visitor,
};
pub use timestamp::{InvalidTimestamp, Timestamp};
