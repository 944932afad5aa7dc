//! The course catalogue API as a [`warp`] filter.
//!
//! [`filter`] responds to every request, so put it last: unknown paths get a 404 in the envelope.
//!
//! ```
//! use catalogue_core::Catalogue;
//! use catalogue_core::storage::MemoryStorage;
//! use warp::{Filter, Rejection};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build()?;
//! let routes = warp::path!("about").map(|| "a host").or(catalogue_warp::filter(catalogue));
//! # let _ = warp::service(routes);
//! # Ok(())
//! # }
//! ```
//!
//! Preceding filters, such as `warp::path("api")`, do not shorten the path: the catalogue gets the whole path of a request.
//!
//! Method, path, query and headers reach the catalogue unchanged, with percent-encoding; the request's body is not read.
//! warp provides a request in parts, so headers are copied, and extensions are lost. Only the [`ClientAddress`], which a rate
//! limit needs, is kept: the one that the host application added, or else the peer's, which `warp::serve` provides. A server
//! that calls [`warp::service`] itself can avoid the copy with [`attach_head`]. [`filter`] then also does not use
//! `warp::path::full`, which panics on a target without a path, such as that of `GET example.com:443`.
//!
//! To identify callers by a cookie or another header, use [`Catalogue::identified_by`]. Serve its result, `mine`, at
//! another URL ([`Catalogue::mounted_at`]): `warp::path("my").and(catalogue_warp::filter(mine))`.
//!
//! Services that read request bodies, such as the developer settings, get their requests from [`full_request`].

mod full_request;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::limit::ClientAddress;
use http::{HeaderMap, Method, Request, Response, Uri, request};
use warp::path::FullPath;
use warp::{Filter, Rejection};

pub use full_request::{BrokenBody, full_request};

/// Returns a filter that responds to every request like `catalogue`, and never rejects.
pub fn filter(
    catalogue: Catalogue,
) -> impl Filter<Extract = (Response<Bytes>,), Error = Infallible> + Clone + Send + Sync + 'static {
    // Boxed, because warp and its servers move a filter's future at each step.
    attached_head().or(build_head()).unify().then(move |head: Arc<request::Parts>| {
        let catalogue = catalogue.clone();
        Box::pin(async move { catalogue.call_head(&head).await })
    })
}

/// Assembles the head from the parts that warp provides.
fn build_head() -> impl Filter<Extract = (Arc<request::Parts>,), Error = Infallible> + Copy {
    warp::method().and(target()).and(warp::header::headers_cloned()).and(client()).map(head)
}

/// Extracts the client's address, if it is known.
fn client() -> impl Filter<Extract = (Option<ClientAddress>,), Error = Infallible> + Copy {
    let declared = warp::ext::optional::<ClientAddress>();
    declared
        .and(warp::addr::remote())
        .map(|declared: Option<_>, peer: Option<SocketAddr>| declared.or_else(|| Some(ClientAddress(peer?.ip()))))
}

/// Extracts path and query unchanged.
fn target() -> impl Filter<Extract = (Uri,), Error = Infallible> + Copy {
    // `warp::path::full` panics on the target of a CONNECT, which has no path.
    let connect = warp::method().and_then(|method| async move {
        if method == Method::CONNECT { Ok(Uri::from_static("*")) } else { Err(warp::reject()) }
    });
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    let path_and_query = warp::path::full().and(query).map(|path: FullPath, query: String| uri(path.as_str(), &query));
    connect.or(path_and_query).unify()
}

fn uri(path: &str, query: &str) -> Uri {
    let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    // Cannot fail for parts of a valid URI. If it ever did, `*` matches no URL of the catalogue, so nothing is exposed.
    Uri::try_from(target).unwrap_or_else(|_| Uri::from_static("*"))
}

fn head(method: Method, uri: Uri, headers: HeaderMap, client: Option<ClientAddress>) -> Arc<request::Parts> {
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = method;
    head.uri = uri;
    head.headers = headers;
    if let Some(client) = client {
        head.extensions.insert(client);
    }
    Arc::new(head)
}

/// Head of a request, shared by all filters that extract it.
#[derive(Clone)]
struct AttachedHead(Arc<request::Parts>);

/// Passes the request's head to [`filter`] unchanged: with extensions, and without a copy of the headers. Other filters see
/// only method and target, so do not use this if filters of the host application read headers, extensions or the version.
///
/// ```
/// use catalogue_core::Catalogue;
/// use catalogue_core::storage::MemoryStorage;
/// use http::Request;
/// use tower_service::Service;
///
/// # async fn respond() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).build()?;
/// let mut service = warp::service(catalogue_warp::filter(catalogue));
/// // In the server, for each request that it has read:
/// let request = Request::get("/docs").body(String::new())?;
/// let response = service.call(catalogue_warp::attach_head(request)).await?;
/// assert_eq!(response.status(), 200);
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(respond()).unwrap();
/// ```
#[must_use]
pub fn attach_head<B>(request: Request<B>) -> Request<B> {
    let (head, body) = request.into_parts();
    let mut stripped = Request::new(body);
    *stripped.method_mut() = head.method.clone();
    *stripped.uri_mut() = head.uri.clone();
    stripped.extensions_mut().insert(AttachedHead(Arc::new(head)));
    stripped
}

/// Extracts the head of a request that went through [`attach_head`]; rejects others.
fn attached_head() -> impl Filter<Extract = (Arc<request::Parts>,), Error = Rejection> + Copy {
    warp::ext::get::<AttachedHead>().map(|AttachedHead(head)| head)
}
