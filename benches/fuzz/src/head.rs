//! The head of a request: the method and the target, then a header on each line. `KEY` stands for a valid key, `TAG` for the
//! opaque tag of the target's response.

use std::io::Read as _;

use bytes::Bytes;
use catalogue_core::Catalogue;
use catalogue_core::observe::TraceParent;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, IF_NONE_MATCH, LINK, VARY};
use http::{HeaderName, HeaderValue, Method, Request, Response};

use super::call::{call, header, replaced};
use super::token::FIXTURE;

pub(super) fn check(input: &[u8]) {
    let (catalogue, key) = &*FIXTURE;
    let Some(mut request) = request(&replaced(input, b"KEY", key.as_bytes())) else { return };
    let mut plain = request.clone();
    plain.headers_mut().remove(IF_NONE_MATCH);
    plain.headers_mut().remove(ACCEPT_ENCODING);
    let plain = call(catalogue, plain);
    let tag = header(plain.headers(), ETAG).map(str::to_owned);
    let opaque = tag.as_deref().and_then(|tag| tag.split('"').nth(1)).unwrap_or("none");
    for value in request.headers_mut().values_mut() {
        *value = HeaderValue::from_bytes(&replaced(value.as_bytes(), b"TAG", opaque.as_bytes())).unwrap();
    }
    let response = call(catalogue, request.clone());
    check_condition(&request, &response, &plain, opaque);
    check_id(&request, &response);
    check_trace(&request);
    if request.method() == Method::HEAD {
        compare_with_get(catalogue, &request, &response);
    }
}

/// Parses the request in an input.
fn request(text: &[u8]) -> Option<Request<()>> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let (method, target) = str::from_utf8(lines.next()?).ok()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(target).body(()).ok()?;
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(&line[..colon]), value) {
            request.headers_mut().append(name, value);
        }
    }
    Some(request)
}

/// Asserts that a response equals the one without conditions and codings, or is a 304 to a request with its tag or a star.
fn check_condition(request: &Request<()>, response: &Response<Bytes>, plain: &Response<Bytes>, opaque: &str) {
    let context = || format!("{request:?}\n{response:?}");
    if response.status() != 304 {
        assert_eq!(response.status(), plain.status(), "{}", context());
        if plain.status() == 200 && request.method() != Method::HEAD {
            assert_eq!(decoded(response), plain.body(), "{}", context());
        }
        return;
    }
    assert_eq!((plain.status().as_u16(), header(response.headers(), ETAG)), (200, header(plain.headers(), ETAG)));
    let (quoted, mut values) = (format!("\"{opaque}\""), request.headers().get_all(IF_NONE_MATCH).iter());
    let names_it = |value: &HeaderValue| value.as_bytes().windows(quoted.len()).any(|it| it == quoted.as_bytes());
    assert!(values.any(|value| value.as_bytes() == b"*" || names_it(value)), "{}", context());
}

/// Returns the decoded body.
fn decoded(response: &Response<Bytes>) -> Bytes {
    let (mut plain, body) = (Vec::new(), &**response.body());
    match header(response.headers(), CONTENT_ENCODING) {
        None => return response.body().clone(),
        Some("gzip") => drop(flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap()),
        Some(other) => panic!("unknown coding {other}"),
    }
    plain.into()
}

/// Asserts that the response has the request's id if that is valid, and otherwise a new one (decision A16).
fn check_id(request: &Request<()>, response: &Response<Bytes>) {
    let given: Vec<_> = request.headers().get_all("x-request-id").iter().map(HeaderValue::as_bytes).collect();
    let is_valid = |id: &[u8]| (1..=128).contains(&id.len()) && id.iter().all(|byte| (0x21..=0x7e).contains(byte));
    let id = response.headers()["x-request-id"].as_bytes();
    match *given {
        [given] if is_valid(given) => assert_eq!(id, given),
        _ => assert!(!given.contains(&id) && id.len() == 32, "{request:?} {id:?}"),
    }
}

/// Asserts that the parsed `traceparent` matches its text (W3C Trace Context, level 1).
fn check_trace(request: &Request<()>) {
    let Some(found) = TraceParent::of(request.headers()) else { return };
    let text = request.headers()["traceparent"].to_str().unwrap();
    assert!(text[2..].starts_with(&format!("-{}-{}-", found.trace_id(), found.parent_id())), "{text}");
    assert_eq!((found.trace_id().len(), found.parent_id().len()), (32, 16), "{text}");
    assert_eq!(found.is_sampled(), u8::from_str_radix(&text[53..55], 16).unwrap() & 1 == 1, "{text}");
}

/// Asserts that HEAD has everything that GET has, except the body.
fn compare_with_get(catalogue: &Catalogue, request: &Request<()>, head: &Response<Bytes>) {
    let mut get = request.clone();
    *get.method_mut() = Method::GET;
    let get = call(catalogue, get);
    assert_eq!(get.status(), head.status());
    for name in [CONTENT_LENGTH, CONTENT_ENCODING, ETAG, LINK, VARY, CACHE_CONTROL] {
        assert_eq!(get.headers().get(&name), head.headers().get(&name), "{name} {request:?}");
    }
}
