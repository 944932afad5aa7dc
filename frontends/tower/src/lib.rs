//! The course catalogue API as a [`tower_service::Service`], for axum, hyper and other frameworks that accept one.
//!
//! [`CatalogueService`] responds to every request, so on axum it is the fallback: unknown paths get a 404 in the envelope.
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
//! The service needs none of axum's features; `axum::serve` needs `http1` or `http2`, and `tokio`.
//!
//! Behind a router that strips a prefix from the path, use [`CatalogueService::nested_at`]. On hyper, wrap the service in
//! `hyper_util::service::TowerToHyperService`, for HTTP/1 and HTTP/2. Without this crate, a `service_fn` on hyper can pass
//! hyper's request to [`Catalogue::call`](catalogue_core::Catalogue::call) unchanged.
//!
//! Other frameworks have adapters for tower services: poem's `.compat()` turns the service into an endpoint, see
//! `examples/poem` in the workspace. Without an adapter, see [the core's documentation](catalogue_core#any-other-framework).
//!
//! The head of a request reaches the catalogue unchanged, with percent-encoding and extensions; its body is dropped unread.
//!
//! For users whose session is in a database, a handler looks it up and passes the user to
//! [`Catalogue::call_as`](catalogue_core::Catalogue::call_as). Serve them at another URL
//! ([`mounted_at`](catalogue_core::Catalogue::mounted_at)), so that links to the next page stay there:
//!
//! ```
//! use axum::{Router, body::Body, extract::{Request, State}, response::Response, routing::any};
//! use catalogue_core::{AccountId, BuildError, Catalogue, auth::{Identity, Scopes}};
//!
//! fn routes(catalogue: &Catalogue) -> Result<Router, BuildError> {
//!     Ok(Router::new().route("/my/{*operation}", any(for_user).with_state(catalogue.mounted_at("/my")?)))
//! }
//!
//! async fn for_user(State(mine): State<Catalogue>, request: Request) -> Response {
//!     let Some((user, session)) = find_session(request.headers()).await else { return mine.call(request).await.map(Body::from) };
//!     let caller = Identity::session(AccountId::new(user), session, Scopes::from_names(["read:courses"]));
//!     mine.call_as(caller, request).await.map(Body::from)
//! }
//! # async fn find_session(_: &axum::http::HeaderMap) -> Option<(String, String)> { None }
//! ```
//!
//! If the head of the request is enough, such as a gateway's header or an extension that a layer adds, use
//! [`Catalogue::identified_by`](catalogue_core::Catalogue::identified_by), and serve its result, `mine`, in the same way:
//! `.route_service("/my/{*operation}", CatalogueService::new(mine))`.
//!
//! A rate limit counts unknown tokens by the extension [`ClientAddress`](catalogue_core::limit::ClientAddress). On axum, a
//! layer of the host application must add it, from `ConnectInfo<SocketAddr>` or from the header of a trusted proxy.

mod nesting;
mod service;

pub use service::{Body, CatalogueService, ResponseFuture};
