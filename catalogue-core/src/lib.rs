//! The course catalogue read API from [`http::Request`] to [`http::Response`], without framework, runtime or database.
//!
//! Professionals publish courses made of ordered modules; approved partner applications read a creator's own courses
//! through it. [`Catalogue::call`] turns any request into a response and cannot fail; what it reads comes from a
//! [`storage::CourseStorage`], and an [`auth::Authenticator`] says who calls.
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
//! A request takes these steps once, in this order: route, bearer token, authenticator, scope gate, parameters, rate limit,
//! operation, envelope. Module bodies are in no type that can reach an answer.
//!
//! Sections and decisions that are named in the docs are those of CONTRACT.md beside the package's manifest.
//!
//! # What a host brings
//! | The host has | It implements | And builds with |
//! | --- | --- | --- |
//! | courses in tables of its own | [`storage::CourseStorage`], two methods | [`Catalogue::builder`] |
//! | keys in a table of its own, as digests | [`storage::CredentialStorage`], one method; expiry and revocation are checked here | [`Catalogue::with_api_keys`] where one storage holds both, else [`auth::StoredCredentials`] |
//! | sessions, or tokens that a service knows | [`auth::Authenticator`], one method | [`Catalogue::builder`], or [`or_authenticator`](CatalogueBuilder::or_authenticator) after another |
//! | an authorization server that signs access tokens | `auth::signed::FetchKeys`, one method | `auth::signed::SignedTokens` (feature `oauth`), by [`or_authenticator`](CatalogueBuilder::or_authenticator) |
//! | an authorization server whose access tokens are opaque | `auth::introspected::Introspect`, one method | `auth::introspected::IntrospectedTokens` (feature `oauth`), by [`or_authenticator`](CatalogueBuilder::or_authenticator), last |
//! | sessions by cookie, or a gateway that names the caller | a function from a request's head to an [`auth::Identity::session`] | [`Catalogue::identified_by`] |
//! | callers whom it knows already | nothing | [`Catalogue::call_as`] with an [`auth::Identity`], on a route of their own [`Catalogue::mounted_at`] |
//! | a rate limit | nothing, with [`limit::LocalRateLimiter`]; for several servers a [`limit::RateLimiter`] | [`rate_limiter`](CatalogueBuilder::rate_limiter), and a [`limit::ClientAddress`] with each request |
//! | users who should make keys themselves | [`storage::KeyStorage`] | the package `catalogue-settings` |
//! | metrics and logs | [`observe::Observer`] | [`observer`](CatalogueBuilder::observer) |
//!
//! [`storage::MemoryStorage`] is for tests and trials. The traits are asynchronous with the macro
//! [`async_trait`](macro@async_trait), which is exported here, so a host needs no dependency for it. An `impl` without
//! it is refused with E0195: "lifetime parameters or bounds on method … do not match the trait declaration".
//!
//! The cause of a 500 is not in the answer: it goes to `tracing`, with the answer's request id. A host without a
//! subscriber never sees it.
//!
//! # Any other framework
//! There are packages for warp (`catalogue-warp`), actix-web (`catalogue-actix`), and whatever takes a tower service
//! (`catalogue-tower`): axum and hyper, and by an adapter of theirs poem and salvo. hyper's own requests can be handed to
//! [`Catalogue::call`] as they are. For any other framework a host converts a request and an answer:
//!
//! ```
//! use bytes::Bytes;
//! use catalogue_core::Catalogue;
//! use catalogue_core::limit::ClientAddress;
//! use http::{Request, Response};
//!
//! /// What a framework has of a request: each line of a header by itself, and the target as it was sent.
//! struct Incoming<'r> {
//!     method: &'r str,
//!     target: &'r str,
//!     headers: Vec<(&'r str, &'r [u8])>,
//!     peer: std::net::IpAddr,
//! }
//!
//! async fn answer(catalogue: &Catalogue, incoming: Incoming<'_>) -> Result<Response<Bytes>, http::Error> {
//!     let mut request = Request::builder().method(incoming.method).uri(incoming.target);
//!     for (name, value) in incoming.headers {
//!         request = request.header(name, value); // which appends
//!     }
//!     let request = request.extension(ClientAddress(incoming.peer)).body(())?;
//!     Ok(catalogue.call(request).await) // its status, each line of its headers, and its bytes go back as they are
//! }
//! # use catalogue_core::storage::MemoryStorage;
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! # let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build()?;
//! # let incoming = Incoming { method: "TRACE", target: "/docs?x", headers: vec![("a", b"\xff")], peer: [192, 0, 2, 1].into() };
//! # assert_eq!(answer(&catalogue, incoming).await?.status(), http::StatusCode::METHOD_NOT_ALLOWED);
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
//! ```
//!
//! | What is easily lost | So |
//! | --- | --- |
//! | The path | pass it on as the client sent it: with its escapes, doubled slashes and dots, and with the prefix that a router took off |
//! | The query | pass on its text: parsed parameters lose those that are repeated, empty or without a value |
//! | Repeated headers | pass on each line, of requests (two `Authorization` are none) and of answers (`Vary`), also values that are no UTF-8 |
//! | The length of an answer | set none: to HEAD the catalogue gives that of the body of GET, and a 204 and a 304 have none. Many frameworks write the length of the empty body |
//! | Methods | route all of them here: HEAD and OPTIONS, TRACE, and those that the framework has no name for. The catalogue answers 405 |
//! | Unknown paths | route what no route of the host matches here as well, for a 404 in the envelope |
//! | The body | leave it unread and do not wait for it; it is no reason to fail, whatever its media type |
//! | Compression, CORS, `ETag` | leave them to the catalogue: a layer of the framework's around it changes what is right already |
//! | The client's address | put a [`limit::ClientAddress`] among the request's extensions, where there is a rate limit; behind a proxy the one that the proxy names |
//!
//! `catalogue-frontend-conformance` tests all of it over a socket, and what the framework does by itself is declared to it.
//! In the workspace `examples/rocket` is such a host, and `examples/poem` one by a tower service.
//!
//! # What cannot be forgotten
//! A catalogue without an authenticator does not compile:
//!
//! ```compile_fail,E0061
//! # use catalogue_core::Catalogue;
//! # use catalogue_core::storage::MemoryStorage;
//! let catalogue = Catalogue::builder(MemoryStorage::new()).build();
//! ```
//!
//! Settings that contradict each other are a [`BuildError`] that says what would be right.
//!
//! # Features and dependencies
//! The feature `oauth`, which is no default, adds access tokens of an authorization server. Public signatures name the types of `http` and `bytes` alone, beside the macro
//! [`async_trait`](macro@async_trait). Types of an answer implement `serde::Serialize`; that some implement a trait of
//! `schemars` serves the documents made here and is no promise. The feature `preserve_order` of `serde_json` is on, for
//! documents that read well, and so it is in a host's whole program.

pub mod auth;
pub mod limit;
pub mod observe;
pub mod storage;
pub mod text;

mod address;
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
mod operation;
mod panic_guard;
mod request_id;
mod response;
mod route;
mod timestamp;
mod utf8;

pub use async_trait::async_trait;

pub use address::{Address, AddressError, parse_http_url};
pub use build_error::BuildError;
pub use catalogue::{Catalogue, CatalogueBuilder};
pub use chain::chain;
pub use error::ErrorCode;
pub use model::{AccountId, Course, CourseDetail, CourseListItem, CourseModule, MAX_SLUG_BYTES, Module, is_slug};
pub use operation::Operation;
pub use operation::document::DocumentFormat;
pub use request_id::RequestIds;
pub use response::page_cache::PageCacheStatistics;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use utf8::Utf8Reader;

/// What the command line and the suites need of a storage beyond reading. Embedders do not need it.
///
/// The records here can be built and taken apart field by field: a further field is a breaking change, because a
/// storage or an export that overlooked it would lose data.
pub mod admin {
    pub use crate::model::{
        Account, AccountSummary, Accounts, CredentialRecord, CredentialState, CredentialUse, NewCredential,
        RemovedAccount,
    };
    pub use crate::storage::admin::{AdminStorage, Change, Import, Record, Visitor};
}
