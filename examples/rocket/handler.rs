//! [`Handler`]: the catalogue on Rocket, which has its own types for requests and responses.

use std::io::Cursor;

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::limit::ClientAddress;
use http::header::CONTENT_LENGTH;
use rocket::http::{Method, Status};
use rocket::route::Outcome;
use rocket::{Data, Request, Response, Route};

/// Methods that Rocket supports. It returns a 400 for others.
const METHODS: [Method; 9] = {
    use Method::{Connect, Delete, Get, Head, Options, Patch, Post, Put, Trace};
    [Get, Head, Options, Post, Put, Patch, Delete, Trace, Connect]
};
/// Rank of the catalogue's routes: after all routes of the host application.
const LOWEST_PRIORITY: isize = isize::MAX;

/// Handler for all requests that no other route takes.
#[derive(Clone)]
struct Handler(Catalogue);

/// Returns the routes of a catalogue. Mount them at `/`, because they need the whole path.
pub(crate) fn routes(catalogue: &Catalogue) -> Vec<Route> {
    METHODS.map(|method| Route::ranked(LOWEST_PRIORITY, method, "/<path..>", Handler(catalogue.clone()))).into()
}

#[rocket::async_trait]
impl rocket::route::Handler for Handler {
    async fn handle<'r>(&self, request: &'r Request<'_>, _: Data<'r>) -> Outcome<'r> {
        match to_http(request) {
            Ok(request) => Outcome::Success(to_rocket(self.0.call(request).await)),
            Err(_) => Outcome::Error(Status::BadRequest),
        }
    }
}

/// Converts a request with its original path and query, and every line of every header. The catalogue does not need the body.
fn to_http(request: &Request<'_>) -> http::Result<http::Request<()>> {
    let mut builder = http::Request::builder().method(request.method().as_str()).uri(request.uri().to_string());
    for header in request.headers().iter() {
        builder = builder.header(header.name.as_str(), &*header.value);
    }
    // Behind a proxy, this is the address that the proxy reports.
    if let Some(address) = request.remote() {
        builder = builder.extension(ClientAddress(address.ip()));
    }
    builder.body(())
}

/// Converts a response. Rocket writes the length of a body itself, so this function sets the catalogue's length (for HEAD,
/// the length of GET's body). A response without a length is streamed, so that Rocket writes none.
fn to_rocket(api_response: http::Response<Bytes>) -> Response<'static> {
    let (head, body) = api_response.into_parts();
    let mut response = Response::new();
    response.set_status(Status::new(head.status.as_u16()));
    for (name, value) in &head.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        response.adjoin_raw_header(name.as_str().to_owned(), value);
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    match length {
        Some(length) => response.set_sized_body::<_, usize>(length, Cursor::new(body)),
        None => response.set_streamed_body(Cursor::new(body)),
    }
    response
}
