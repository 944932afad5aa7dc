//! The course catalogue API as an [`actix_web::Route`].
//!
//! [`route`] answers every request, so it is the default service of an app or a scope: what others do not know gets the
//! envelope's 404.
//!
//! ```
//! use actix_web::{App, HttpServer, web};
//! use catalogue_core::Catalogue;
//! use catalogue_core::storage::MemoryStorage;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).base_url("/api/v1").docs_url("/docs").build()?;
//! let server = HttpServer::new(move || {
//!     let about = web::resource("/about").to(async || "a host");
//!     App::new().service(about).default_service(catalogue_actix::route(catalogue.clone()))
//! });
//! # let _ = server;
//! # Ok(())
//! # }
//! ```
//!
//! Of actix-web's features it needs none. The catalogue is made once, outside the function that each worker calls, so that
//! all share what it keeps. On SIGINT actix-web drops running requests, unless `HttpServer::shutdown_signal` is set.
//!
//! A scope leaves the path as it is, so the catalogue is mounted in one at the address that it was built with:
//! `App::new().service(web::scope("/api/v1").default_service(catalogue_actix::route(catalogue)))`.
//!
//! Method, path, query and headers reach the catalogue byte for byte as they came. The request's body is dropped unread, and
//! its extensions stay behind, but for the [`ClientAddress`](catalogue_core::limit::ClientAddress) that a rate limit asks
//! for: the one that a host behind a proxy puts there, or else the peer.
//!
//! A host that knows its callers by a cookie or another header hands in [`Catalogue::identified_by`], on a route of its own
//! after [`Catalogue::mounted_at`]: `web::scope("/my").default_service(catalogue_actix::route(mine))`.

mod convert;

use actix_web::{HttpRequest, Route, web};
use catalogue_core::Catalogue;

/// A route that answers every request as `catalogue` does, whatever its method.
pub fn route(catalogue: Catalogue) -> Route {
    web::to(move |request: HttpRequest| {
        let catalogue = catalogue.clone();
        async move {
            let request = convert::request(&request);
            convert::response(catalogue.call(request).await)
        }
    })
}
