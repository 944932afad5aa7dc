//! Calls of a catalogue, and properties of every response.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::auth::Identity;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::Value;

/// The calling account, which may read courses.
pub(super) const ACCOUNT: &str = "acc_fuzz";

/// Polls a future until it is ready: for futures that may yield, but never wait for an event.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

pub(super) fn replaced(text: &[u8], mark: &[u8], by: &[u8]) -> Vec<u8> {
    let (mut replaced, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(by);
        rest = &rest[at + mark.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

/// Returns the lines of an input as header values, without invalid ones, which no server would pass on.
pub(super) fn header_values(input: &[u8]) -> Vec<HeaderValue> {
    let lines = input.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter_map(|line| HeaderValue::from_bytes(line).ok()).collect()
}

/// Returns a GET with lines of one header; `None` if the target is invalid.
pub(super) fn get(target: &str, name: &HeaderName, values: &[HeaderValue]) -> Option<Request<()>> {
    let mut request = Request::get(target).body(()).ok()?;
    for value in values {
        request.headers_mut().append(name, value.clone());
    }
    Some(request)
}

/// Returns the response to a caller that the host application has identified.
pub(super) fn call_as(caller: Identity, catalogue: &Catalogue, request: Request<()>) -> Response<Bytes> {
    let method = request.method().clone();
    check(&method, block_on(catalogue.call_as(caller, request)))
}

/// Returns the response to the caller that the header identifies.
pub(super) fn call(catalogue: &Catalogue, request: Request<()>) -> Response<Bytes> {
    let method = request.method().clone();
    check(&method, block_on(catalogue.call(request)))
}

/// Returns the value of a header that may occur only once.
pub(super) fn header(headers: &HeaderMap, name: impl http::header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str().expect("header values are visible ASCII"));
    assert!(values.next().is_none(), "repeated header: {headers:?}");
    value
}

/// Returns status, code and details of a failure; of a success only the status.
pub(super) fn failure(response: &Response<Bytes>) -> (u16, Option<String>, Value) {
    let status = response.status();
    if status.is_success() || status.is_redirection() {
        return (status.as_u16(), None, Value::Null);
    }
    let json: Value = serde_json::from_slice(response.body()).expect("an error is JSON");
    let code = json["error"]["code"].as_str().map(str::to_owned);
    (status.as_u16(), code, json["error"].get("details").cloned().unwrap_or_default())
}

/// Asserts properties of every response: sections 1 and 2.6, decisions A14 to A16. No storage here fails, so a 500 is a bug.
fn check(method: &Method, response: Response<Bytes>) -> Response<Bytes> {
    let (status, headers, body) = (response.status(), response.headers(), response.body());
    assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{response:?}");
    assert_eq!(header(headers, "x-content-type-options"), Some("nosniff"));
    let id = header(headers, "x-request-id").expect("each response has an id");
    assert!((1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    let length = header(headers, CONTENT_LENGTH);
    match status.as_u16() {
        204 | 304 => assert!(length.is_none() && body.is_empty(), "{response:?}"),
        303 => assert!(body.is_empty()),
        _ if *method == Method::HEAD => assert!(length.is_some() && body.is_empty(), "{response:?}"),
        _ => assert_eq!(length.expect("a body has a length").parse(), Ok(body.len())),
    }
    if status.is_client_error() {
        assert_eq!(header(headers, CACHE_CONTROL), Some("no-store"));
        assert_eq!((header(headers, CONTENT_TYPE), header(headers, ETAG)), (Some("application/json"), None));
    }
    if status.is_client_error() && *method != Method::HEAD {
        let json: Value = serde_json::from_slice(body).expect("an error is JSON");
        let error = json["error"].as_object().expect("an error has the envelope");
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(1), "{json}");
        assert!(error.keys().all(|key| ["code", "message", "details"].contains(&&**key)), "{json}");
        assert!(error["code"].is_string() && error["message"].is_string(), "{json}");
    }
    response
}
