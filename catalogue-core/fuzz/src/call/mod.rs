//! Whole requests, each against the [model](model) of the API. An input is a request's head: the method and the target, and
//! below them a header on each line. `$NAME` stands for the token of that name, `$tag` for the tag of what the target has,
//! `$next` for the cursor of the page that starts at the second course.

mod model;
mod world;

use std::sync::LazyLock;

use bytes::Bytes;
use catalogue_core::Catalogue;
use http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, ETAG, IF_NONE_MATCH, LINK,
    LOCATION, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Method, Request, Response};
use serde_json::Value;

use super::accept_encoding::decoded;
use super::ask::{ask, failure, header};
use super::if_none_match::replaced;
use model::{Body, Expected};
use world::{TOKENS, World};

static WORLD: LazyLock<(Catalogue, World)> = LazyLock::new(World::build);

pub fn check(input: &[u8]) {
    let (catalogue, world) = &*WORLD;
    let Some(request) = request(input, world) else { return };
    let request = with_tag(catalogue, request);
    let response = ask(catalogue, request.clone());
    let expected = model::answer(world, &request);
    compare(&request, &response, &expected);
    check_id(&request, &response);
    if request.method() == Method::HEAD {
        compare_with_get(catalogue, &request, &response);
    }
}

/// The request that an input writes.
fn request(input: &[u8], world: &World) -> Option<Request<()>> {
    let mut text = replaced(input, b"$next", world.second_page().as_bytes());
    for token in &TOKENS {
        text = replaced(&text, format!("${}", token.name).as_bytes(), token.text().as_bytes());
    }
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

/// The same with the tag that its target has now.
fn with_tag(catalogue: &Catalogue, mut request: Request<()>) -> Request<()> {
    if !request.headers().get_all(IF_NONE_MATCH).iter().any(|value| value.as_bytes().windows(4).any(|it| it == b"$tag"))
    {
        return request;
    }
    let mut plain = request.clone();
    plain.headers_mut().remove(IF_NONE_MATCH);
    let tag = header(ask(catalogue, plain).headers(), ETAG).unwrap_or("W/\"none\"").to_owned();
    for value in request.headers_mut().iter_mut().filter(|(name, _)| **name == IF_NONE_MATCH).map(|(_, value)| value) {
        *value = HeaderValue::from_bytes(&replaced(value.as_bytes(), b"$tag", tag.as_bytes())).unwrap();
    }
    request
}

fn compare(request: &Request<()>, response: &Response<Bytes>, expected: &Expected) {
    let (headers, shown) = (response.headers(), || format!("{request:?}\n{response:?}\n{expected:?}"));
    let is_whole = response.status() == expected.status;
    let may_be_known = response.status() == 304 && expected.status == 200 && is_conditional(request);
    assert!(is_whole || may_be_known, "{}", shown());
    if may_be_known {
        assert!(header(headers, ETAG).is_some(), "{}", shown());
    }
    if expected.must_be_known {
        assert_eq!(response.status(), 304, "{}", shown());
    }
    let cache = if response.status().is_client_error() { Some("no-store") } else { expected.cache };
    assert_eq!(header(headers, CACHE_CONTROL), cache, "{}", shown());
    let wanted = [
        (ALLOW, expected.allow.then_some("GET, HEAD, OPTIONS".to_owned())),
        (WWW_AUTHENTICATE, expected.challenge.map(str::to_owned)),
        (LOCATION, expected.location.map(str::to_owned)),
        (ACCESS_CONTROL_ALLOW_ORIGIN, expected.allowed_origin.clone()),
    ];
    for (name, value) in wanted {
        assert_eq!(header(headers, &name), value.as_deref(), "{name}: {}", shown());
    }
    let varies: Vec<_> = headers.get_all(VARY).iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(varies.join(", "), expected.vary, "{}", shown());
    if response.status() != expected.status || request.method() == Method::HEAD {
        return;
    }
    match &expected.body {
        Body::Empty => assert!(response.body().is_empty(), "{}", shown()),
        Body::Text => assert!(!response.body().is_empty(), "{}", shown()),
        Body::Failure { code, details } => {
            assert_eq!(failure(response), (expected.status, Some((*code).to_owned()), details.clone()), "{}", shown());
        }
        Body::Json(json) => {
            let body: Value = serde_json::from_slice(&decoded(response)).expect("that is JSON");
            assert_eq!(body, *json, "{}", shown());
        }
        Body::Page { courses, next } => {
            let body: Value = serde_json::from_slice(&decoded(response)).expect("that is JSON");
            assert_eq!(body["data"], *courses, "{}", shown());
            let cursor = body["meta"]["nextCursor"].as_str();
            assert_eq!((cursor.is_some(), header(headers, LINK).is_some()), (*next, *next), "{}", shown());
            if let (Some(cursor), Some(link)) = (cursor, header(headers, LINK)) {
                assert!(link.starts_with("</api/v1/courses?") && link.contains(cursor), "{}", shown());
            }
        }
    }
}

fn is_conditional(request: &Request<()>) -> bool {
    request.headers().contains_key(IF_NONE_MATCH)
}

/// Decision A16.
fn check_id(request: &Request<()>, response: &Response<Bytes>) {
    let given: Vec<_> = request.headers().get_all("x-request-id").iter().map(HeaderValue::as_bytes).collect();
    let is_fine = |id: &[u8]| (1..=128).contains(&id.len()) && id.iter().all(|byte| (0x21..=0x7e).contains(byte));
    let id = response.headers()["x-request-id"].as_bytes();
    match *given {
        [given] if is_fine(given) => assert_eq!(id, given),
        _ => assert!(!given.contains(&id) && id.len() == 32, "{request:?} {id:?}"),
    }
}

/// HEAD has what GET has, but the body.
fn compare_with_get(catalogue: &Catalogue, request: &Request<()>, head: &Response<Bytes>) {
    let mut get = request.clone();
    *get.method_mut() = Method::GET;
    let get = ask(catalogue, get);
    assert_eq!(get.status(), head.status());
    for name in [CONTENT_LENGTH, ETAG, LINK, VARY, CACHE_CONTROL, ACCEPT_ENCODING] {
        assert_eq!(get.headers().get(&name), head.headers().get(&name), "{name} {request:?}");
    }
}
