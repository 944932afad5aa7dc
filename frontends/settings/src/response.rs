//! Creates responses with a status, a body and its type.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Response, StatusCode};
use maud::Markup;
use serde_json::Value;

/// Returns a response with a page.
pub(crate) fn html(status: StatusCode, page: Markup) -> Response<Bytes> {
    with_media_type(status, "text/html; charset=utf-8", page.into_string())
}

/// Returns a response with a JSON body, which must include the envelope.
pub(crate) fn json(status: StatusCode, body: &Value) -> Response<Bytes> {
    with_media_type(status, "application/json", body.to_string())
}

/// Returns a response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// Returns a redirect to another page of the settings; `location` is visible ASCII.
pub(crate) fn see_other(location: &str) -> Response<Bytes> {
    let mut response = empty(StatusCode::SEE_OTHER);
    let location = HeaderValue::try_from(location).expect("paths of the settings are visible ASCII");
    response.headers_mut().insert(LOCATION, location);
    response
}

pub(crate) fn with_media_type(status: StatusCode, media_type: &'static str, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
