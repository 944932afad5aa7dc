//! The course catalogue API as an [`actix_web::Route`].
//!
//! [`route`] responds to every request, so use it as the default service of an app or a scope. Unknown paths get a
//! 404 in the envelope.
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
//! The route needs none of actix-web's features. Create the catalogue once, outside the function that each worker calls, so
//! that all share its caches. On SIGINT actix-web drops running requests, unless `HttpServer::shutdown_signal` is set.
//!
//! A scope leaves the path unchanged, so the scope must have the URL that the catalogue was built with:
//! `App::new().service(web::scope("/api/v1").default_service(catalogue_actix::route(catalogue)))`.
//!
//! Method, path, query and headers reach the catalogue byte for byte. The request's body is dropped unread, and so are its
//! extensions. Only the [`ClientAddress`](catalogue_core::limit::ClientAddress), which a rate limit needs, is kept: the one
//! that the host application added, or else the peer's.
//!
//! To identify callers by a cookie or another header, use [`Catalogue::identified_by`]. Serve its result, `mine`, at
//! another URL ([`Catalogue::mounted_at`]): `web::scope("/my").default_service(catalogue_actix::route(mine))`.
//!
//! For services that read request bodies, such as the developer settings, convert requests with [`request_with`], and
//! responses with [`response`].

mod convert;

use actix_web::{HttpRequest, HttpResponse, Route, web};
use bytes::Bytes;
use catalogue_core::Catalogue;
use http::{Request, Response};

/// Returns a route that responds to every request like `catalogue`, whatever its method.
pub fn route(catalogue: Catalogue) -> Route {
    web::to(move |request: HttpRequest| {
        let catalogue = catalogue.clone();
        async move {
            let request = convert::request(&request);
            convert::response(catalogue.call(request).await)
        }
    })
}

/// Converts a request of actix-web and its body to a request of [`http`], with the parts that [`route`] keeps. The
/// extractor limits the body's length: [`web::Bytes`] accepts 256 KiB unless a [`web::PayloadConfig`] sets another limit.
#[must_use]
pub fn request_with(request: &HttpRequest, body: Bytes) -> Request<Bytes> {
    convert::request(request).map(|()| body)
}

/// Converts a response to one of actix-web.
#[must_use]
pub fn response(response: Response<Bytes>) -> HttpResponse {
    convert::response(response)
}
