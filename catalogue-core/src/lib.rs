//! The course catalogue read API from [`http::Request`] to [`http::Response`], without framework, runtime or database.
//!
//! Creators publish courses made of ordered modules; approved partner applications read a creator's own courses through
//! this API. [`Catalogue::call`] turns any request into a response and cannot fail. It reads the data from a
//! [`storage::CourseStorage`] and identifies the caller with an [`auth::Authenticator`].
//!
//! ```
//! use catalogue_core::Catalogue;
//! use catalogue_core::storage::MemoryStorage;
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
//! Each request passes through these steps once, in this order: route, bearer token, authenticator, scope gate,
//! parameters, rate limit, operation, envelope. Module bodies are in no type that can reach a response.
//!
//! The sections and decisions that the docs cite are those of CONTRACT.md, next to the package's manifest.
//!
//! # Extension points
//! | The host application has | It implements | It builds with |
//! | --- | --- | --- |
//! | courses in its own tables | [`storage::CourseStorage`], two methods | [`Catalogue::builder`] |
//! | keys in its own table, as digests | [`storage::CredentialStorage`], one method; the catalogue checks expiry and revocation | [`Catalogue::with_api_keys`] if one storage holds both, else [`auth::StoredCredentials`] |
//! | sessions, or tokens that a service validates | [`auth::Authenticator`], one method | [`Catalogue::builder`], or [`or_authenticator`](CatalogueBuilder::or_authenticator) after another |
//! | an authorization server that signs access tokens | `auth::signed::FetchKeys`, one method | `auth::signed::SignedTokens` (feature `oauth`), with [`or_authenticator`](CatalogueBuilder::or_authenticator) |
//! | an authorization server whose access tokens are opaque | `auth::introspected::Introspect`, one method | `auth::introspected::IntrospectedTokens` (feature `oauth`), with [`or_authenticator`](CatalogueBuilder::or_authenticator), last |
//! | cookie sessions, or a gateway that names the caller | a function from a request's head to an [`auth::Identity::session`] | [`Catalogue::identified_by`] |
//! | callers that it has identified already | nothing | [`Catalogue::call_as`] with an [`auth::Identity`], on a separate route with [`Catalogue::mounted_at`] |
//! | a rate limit | nothing, with [`limit::LocalRateLimiter`]; for several servers, a [`limit::RateLimiter`] | [`rate_limiter`](CatalogueBuilder::rate_limiter), and a [`limit::ClientAddress`] with each request |
//! | users who should create keys themselves | [`storage::KeyStorage`] | the package `catalogue-settings` |
//! | metrics and logs | [`observe::Observer`] | [`observer`](CatalogueBuilder::observer) |
//!
//! [`storage::MemoryStorage`] is for tests and trials. The traits are asynchronous through the macro
//! [`async_trait`](macro@async_trait), which this crate exports, so a host application needs no dependency on it. An
//! `impl` without it fails with E0195: "lifetime parameters or bounds on method … do not match the trait declaration".
//!
//! The cause of a 500 is not in the response: it is logged with `tracing`, together with the response's request id. A
//! host application without a subscriber never sees it.
//!
//! # Any other framework
//! There are packages for warp (`catalogue-warp`), actix-web (`catalogue-actix`), and everything that takes a tower
//! service (`catalogue-tower`): axum and hyper, and through their adapters poem and salvo. [`Catalogue::call`] takes
//! hyper's requests as they are. For any other framework, the host application converts requests and responses:
//!
//! ```
//! use bytes::Bytes;
//! use catalogue_core::Catalogue;
//! use catalogue_core::limit::ClientAddress;
//! use http::{Request, Response};
//!
//! /// A request as the framework represents it: each header line by itself, and the target as it was sent.
//! struct Incoming<'r> {
//!     method: &'r str,
//!     target: &'r str,
//!     headers: Vec<(&'r str, &'r [u8])>,
//!     peer: std::net::IpAddr,
//! }
//!
//! async fn respond(catalogue: &Catalogue, incoming: Incoming<'_>) -> Result<Response<Bytes>, http::Error> {
//!     let mut request = Request::builder().method(incoming.method).uri(incoming.target);
//!     for (name, value) in incoming.headers {
//!         request = request.header(name, value); // appends: a header may be repeated
//!     }
//!     let request = request.extension(ClientAddress(incoming.peer)).body(())?;
//!     Ok(catalogue.call(request).await) // pass on its status, header lines and bytes unchanged
//! }
//! # use catalogue_core::storage::MemoryStorage;
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build()?;
//! # let incoming = Incoming { method: "TRACE", target: "/docs?x", headers: vec![("a", b"\xff")], peer: [192, 0, 2, 1].into() };
//! # assert_eq!(respond(&catalogue, incoming).await?.status(), http::StatusCode::METHOD_NOT_ALLOWED);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
//! ```
//!
//! | What is easily lost | What to do |
//! | --- | --- |
//! | The path | pass it on as the client sent it: with its escapes, doubled slashes and dots, and with the prefix that a router stripped |
//! | The query | pass on its text: parsed parameters lose those that are repeated, empty or without a value |
//! | Repeated headers | pass on each line, of requests (two `Authorization` lines count as none) and of responses (`Vary`), including values that are not UTF-8 |
//! | The length of a response | set none: to HEAD, the catalogue sends the length of GET's body, and a 204 and a 304 have none. Many frameworks send the length of the empty body |
//! | Methods | route all of them here, even HEAD, OPTIONS, and methods that the framework has no name for: the catalogue returns the 405s |
//! | Unknown paths | also route here what no route of the host application matches, for a 404 in the envelope |
//! | The body | leave it unread and do not wait for it; never fail because of it, whatever its media type |
//! | Compression, CORS, `ETag` | leave them to the catalogue: a layer of the framework around it changes what is right already |
//! | The client's address | put a [`limit::ClientAddress`] into the request's extensions if there is a rate limit; behind a proxy, use the address that the proxy names |
//!
//! `catalogue-frontend-conformance` tests all of this over a socket; deviations of the framework are declared to it.
//! In the workspace, the host application `examples/rocket` converts requests, and `examples/poem` uses a tower service.
//!
//! # Checks against misuse
//! A catalogue without an authenticator does not compile:
//!
//! ```compile_fail,E0061
//! # use catalogue_core::Catalogue;
//! # use catalogue_core::storage::MemoryStorage;
//! let catalogue = Catalogue::builder(MemoryStorage::new()).build();
//! ```
//!
//! Settings that contradict each other cause a [`BuildError`], whose message states what to change.
//!
//! # Features and dependencies
//! The feature `oauth`, which is off by default, adds access tokens of an authorization server. Public signatures name
//! only types of `http` and `bytes`, and the macro [`async_trait`](macro@async_trait). Response types implement
//! `serde::Serialize`; the implementations of `schemars` traits only serve the catalogue's documents and may change. The
//! feature `preserve_order` of `serde_json` is on, for readable documents, and so it is on in the whole host application.

pub mod auth;
pub mod limit;
pub mod observe;
pub mod storage;
pub mod text;

mod build_error;
mod catalogue;
mod chain;
mod cors;
mod cursor;
mod documents;
mod error;
mod in_flight;
mod model;
mod mount;
mod mount_url;
mod operation;
mod panic_guard;
mod request_id;
mod response;
mod route;
mod timestamp;
mod utf8;

pub use async_trait::async_trait;

pub use build_error::BuildError;
pub use catalogue::{Catalogue, CatalogueBuilder};
pub use chain::chain;
pub use error::ErrorCode;
pub use model::{AccountId, Course, CourseDetail, CourseListItem, CourseModule, MAX_SLUG_BYTES, Module, is_slug};
pub use mount_url::{InvalidMountUrl, MountUrl, parse_http_url};
pub use operation::Operation;
pub use operation::document::DocumentFormat;
pub use request_id::RequestIds;
pub use response::page_cache::PageCacheStatistics;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use utf8::Utf8Reader;

/// Traits and records for the command line and the conformance suites, beyond reading.
///
/// A host application with its own keys needs [`NewCredential`](admin::NewCredential) to create one, and for a
/// [`KeyStorage`](storage::KeyStorage) or [`SignInStorage`](storage::SignInStorage) also
/// [`CredentialRecord`](admin::CredentialRecord) and [`Account`](admin::Account).
///
/// All fields of the records are public. Storages and exports destructure them field by field, so that the compiler rejects
/// code that would lose a new field. A new field is therefore a breaking change.
pub mod admin {
    pub use crate::model::{
        Account, AccountSummary, Accounts, CredentialRecord, CredentialState, CredentialUse, NewCredential,
        RemovedAccount,
    };
    pub use crate::storage::admin::{AdminStorage, Change, Import, Record, Visitor};
}
