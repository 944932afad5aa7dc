//! The course catalogue API as a [`tower_service::Service`], for axum, hyper and everything else that takes one.
//!
//! [`CatalogueService`] responds to every request, so on axum it is the fallback: unknown paths get the envelope's 404.
//!
//! ```
//! use axum::{Router, routing::get};
//! use catalogue_core::Catalogue;
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_tower::CatalogueService;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build()?;
//! let routes: Router =
//!     Router::new().route("/about", get(|| async { "a host" })).fallback_service(CatalogueService::new(catalogue));
//! # let _ = routes;
//! # Ok(())
//! # }
//! ```
//!
//! It needs none of axum's features; `axum::serve` needs `http1` or `http2`, and `tokio`.
//!
//! Behind a router that strips a prefix from the path, use [`CatalogueService::nested_at`]; on hyper,
//! `hyper_util::service::TowerToHyperService`, over HTTP/1 and HTTP/2 alike. A service function on hyper needs neither:
//! [`Catalogue::call`](catalogue_core::Catalogue::call) takes hyper's request as it is.
//!
//! Other frameworks have adapters for tower services: poem's `.compat()` turns this one into an endpoint, as an example in
//! the workspace shows. For any other framework, see [the core's documentation](catalogue_core#any-other-framework).
//!
//! The head of a request reaches the catalogue unchanged, with percent-encoding and extensions; its body is dropped unread.
//!
//! A host application that identifies callers by a cookie, or by an extension from its own layer, uses
//! [`Catalogue::identified_by`](catalogue_core::Catalogue::identified_by), on a separate route after
//! [`mounted_at`](catalogue_core::Catalogue::mounted_at): `.route_service("/my/{*operation}", CatalogueService::new(mine))`.
//!
//! A rate limit counts unknown tokens by the extension [`ClientAddress`](catalogue_core::limit::ClientAddress). On axum a
//! layer adds it, from `ConnectInfo<SocketAddr>` or from the header of a trusted proxy.

mod nesting;
mod service;

pub use service::{Body, CatalogueService, ResponseFuture};
