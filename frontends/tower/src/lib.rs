//! The course catalogue API as a [`tower_service::Service`], for axum, hyper and everything else that takes one.
//!
//! [`CatalogueService`] answers every request, so on axum it is the fallback: what a host's own routes do not know, it
//! answers 404 in the envelope.
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
//! A router that takes the prefix off the path is told about with [`CatalogueService::nested_at`]. On hyper the service
//! stands behind `hyper_util::service::TowerToHyperService`, over HTTP/1 and HTTP/2 alike. A host on hyper that has routes
//! of its own in a function can do without it: [`Catalogue::call`](catalogue_core::Catalogue::call) takes hyper's request
//! as it is.
//!
//! Other frameworks have adapters for tower services: poem's `.compat()` makes an endpoint of this one, of which the
//! workspace has an example. What to keep in mind where there is none stands in
//! [the core's documentation](catalogue_core#any-other-framework).
//!
//! The head of a request reaches the catalogue as it came: method, path and query with their percent-encoding, version,
//! headers and extensions. Its body may be of any type and is dropped unread.
//!
//! A host that knows its callers by a cookie, or by what a layer of its own has left among the extensions, hands in
//! [`Catalogue::identified_by`](catalogue_core::Catalogue::identified_by), on a route of its own after
//! [`mounted_at`](catalogue_core::Catalogue::mounted_at): `.route_service("/my/{*operation}", CatalogueService::new(mine))`.
//!
//! A rate limit counts unknown tokens by the [`ClientAddress`](catalogue_core::limit::ClientAddress) among the
//! extensions. On axum a layer puts it there, from its `ConnectInfo<SocketAddr>` or from the header of a proxy that is
//! trusted.

mod body;
mod nesting;
mod service;

pub use body::Body;
pub use service::{CatalogueService, ResponseFuture};
