//! The course catalogue API as a [`tower_service::Service`], for axum, hyper and everything else that takes one.
//!
//! [`CatalogueService`] answers every request, so on axum it is the fallback: what no route knows gets the envelope's 404.
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
//! Of axum's features it needs none; `axum::serve` needs `http1` or `http2`, and `tokio`.
//!
//! Behind a router that takes the prefix off the path, use [`CatalogueService::nested_at`]; on hyper,
//! `hyper_util::service::TowerToHyperService`, over HTTP/1 and HTTP/2 alike. A function on hyper can do without:
//! [`Catalogue::call`](catalogue_core::Catalogue::call) takes hyper's request as it is.
//!
//! Other frameworks have adapters for tower services: poem's `.compat()` makes an endpoint of this one, as an example in the
//! workspace shows. For any other framework, see [the core's documentation](catalogue_core#any-other-framework).
//!
//! The head of a request reaches the catalogue as it came, percent-encoding and extensions too; its body is dropped unread.
//!
//! A host that knows its callers by a cookie, or by what a layer of its own has left among the extensions, hands in
//! [`Catalogue::identified_by`](catalogue_core::Catalogue::identified_by), on a route of its own after
//! [`mounted_at`](catalogue_core::Catalogue::mounted_at): `.route_service("/my/{*operation}", CatalogueService::new(mine))`.
//!
//! A rate limit counts unknown tokens by the [`ClientAddress`](catalogue_core::limit::ClientAddress) among the extensions.
//! On axum a layer puts it there, from `ConnectInfo<SocketAddr>` or from the header of a trusted proxy.

mod nesting;
mod service;

pub use service::{Body, CatalogueService, ResponseFuture};
