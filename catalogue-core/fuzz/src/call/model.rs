//! The API as the contract has it, written once more: what a request is answered with.

use http::header::{ACCEPT, AUTHORIZATION, IF_NONE_MATCH, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request};
use serde_json::{Value, json};

use super::super::accept_encoding::weight as weight_of;
use super::super::path::{Place, place};
use super::super::query;
use super::super::token::{Token as Told, told};
use super::world::{TOKENS, Token, World};

/// What an answer must be.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) status: u16,
    pub(super) body: Body,
    pub(super) cache: Option<&'static str>,
    pub(super) vary: String,
    pub(super) allow: bool,
    pub(super) challenge: Option<&'static str>,
    pub(super) location: Option<&'static str>,
    pub(super) allowed_origin: Option<String>,
    /// It is there, and the caller says to have whatever is there.
    pub(super) must_be_known: bool,
}

#[derive(Debug)]
pub(super) enum Body {
    Empty,
    /// A document.
    Text,
    Json(Value),
    /// Courses, and whether there are more.
    Page {
        courses: Value,
        next: bool,
    },
    Failure {
        code: &'static str,
        details: Value,
    },
}

const APP: &str = "https://app.example.com";
const MOUNT: (&str, &str, bool) = ("/api/v1", "/docs", true);

pub(super) fn answer(world: &World, request: &Request<()>) -> Expected {
    let place = place(MOUNT, request.uri().path());
    let (allowed_origin, varies) = cross_origin(&place, request.headers());
    let mut expected = plain(world, request, &place);
    expected.allowed_origin = allowed_origin;
    if let Some(varies) = varies {
        expected.vary =
            [&*expected.vary, varies].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
    }
    let star = request.headers().get_all(IF_NONE_MATCH).iter().any(|value| value == "*");
    expected.must_be_known = star && expected.status == 200;
    expected
}

/// The order of decision R2.
fn plain(world: &World, request: &Request<()>, place: &Place) -> Expected {
    let (method, headers) = (request.method(), request.headers());
    let reads = *method == Method::GET || *method == Method::HEAD;
    match place {
        Place::Outside | Place::UnknownDocument => return not_found(),
        Place::Root if !reads || !wants_html(headers) => return not_found(),
        Place::Root => {
            let (body, vary) = (Body::Empty, "Accept");
            return Expected { location: Some("/docs"), ..success(303, body, "public, max-age=300", vary) };
        }
        Place::Unknown => {}
        _ if *method == Method::OPTIONS => {
            return Expected { allow: true, cache: None, ..success(204, Body::Empty, "", "") };
        }
        _ if !reads => return Expected { allow: true, ..failure(405, "invalid_request", Value::Null) },
        _ => {}
    }
    if let Place::Document(_) = place {
        return success(200, Body::Text, "public, max-age=300", "Accept-Encoding");
    }
    let caller = match caller(headers) {
        Ok(caller) => caller,
        Err(refused) => return *refused,
    };
    if matches!(place, Place::Courses | Place::Course(_)) && !caller.scopes.contains(&"read:courses") {
        let challenge = Some(r#"Bearer error="insufficient_scope", scope="read:courses""#);
        let details = json!({ "required": ["read:courses"], "granted": caller.scopes });
        return Expected { challenge, ..failure(403, "insufficient_scope", details) };
    }
    match body(world, caller, place, request.uri().query().unwrap_or_default()) {
        Ok(body) => success(200, body, "private, no-cache", "Authorization, Accept-Encoding"),
        Err(failure) => *failure,
    }
}

fn body(world: &World, caller: &Token, place: &Place, query: &str) -> Result<Body, Box<Expected>> {
    match place {
        Place::OpenApi => Ok(Body::Text),
        Place::Me => {
            let identity = json!({ "userId": caller.account, "apiKeyId": caller.id(), "scopes": caller.scopes });
            Ok(Body::Json(json!({ "data": identity })))
        }
        Place::Courses => {
            let all = world.list(caller.account);
            let (limit, from) = page(world, caller, query)?;
            let courses: Vec<_> = all.iter().skip(from).take(limit).map(|course| course.item()).collect();
            Ok(Body::Page { next: all.len() > from + limit, courses: courses.into() })
        }
        Place::Course(Some(slug)) => {
            let course = world.list(caller.account).into_iter().find(|course| course.slug == *slug);
            let course = course.ok_or_else(|| Box::new(not_found()))?;
            Ok(Body::Json(json!({ "data": course.detail() })))
        }
        _ => Err(Box::new(not_found())),
    }
}

/// Limit, and how many courses come before. The cursors here are that of the second page, and those of nobody.
fn page(world: &World, caller: &Token, query: &str) -> Result<(usize, usize), Box<Expected>> {
    // The other model knows the cursors of another account alone, so it is asked for the limit.
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    let cursors: Vec<_> = pairs.iter().filter(|(name, _)| name == "cursor").map(|(_, value)| &**value).collect();
    let limits = pairs.iter().filter(|(name, _)| name == "limit");
    let limits = form_urlencoded::Serializer::new(String::new()).extend_pairs(limits).finish();
    let invalid = |details: Value| Box::new(failure(400, "invalid_request", details));
    let (limit, _) = query::read(&limits).map_err(invalid)?;
    match *cursors {
        [] => Ok((limit, 0)),
        [cursor] if cursor == world.second_page() && caller.account == "ada" => Ok((limit, 1)),
        [_] => Err(invalid(json!({ "parameter": "cursor", "reason": "invalid" }))),
        _ => Err(invalid(json!({ "parameter": "cursor", "reason": "repeated" }))),
    }
}

fn caller(headers: &HeaderMap) -> Result<&'static Token, Box<Expected>> {
    let values: Vec<HeaderValue> = headers.get_all(AUTHORIZATION).iter().cloned().collect();
    let refused = |reason: &str, challenge| {
        let failure = failure(401, "unauthorized", json!({ "reason": reason }));
        Box::new(Expected { challenge: Some(challenge), ..failure })
    };
    let invalid = r#"Bearer realm="catalogue", error="invalid_token""#;
    match told(&values) {
        Told::Missing => Err(refused("missing", r#"Bearer realm="catalogue""#)),
        Told::Is(text) => match TOKENS.iter().find(|token| token.text().as_bytes() == text) {
            Some(token) if token.state == "valid" => Ok(token),
            Some(token) => Err(refused(token.state, invalid)),
            None => Err(refused("invalid", invalid)),
        },
    }
}

/// Decision A17: the origin that may read the answer, and what the answer depends on besides.
fn cross_origin(place: &Place, headers: &HeaderMap) -> (Option<String>, Option<&'static str>) {
    match place {
        Place::Outside | Place::Root => (None, None),
        Place::Document(_) | Place::UnknownDocument => (Some("*".to_owned()), None),
        _ => {
            let origin = headers.get(ORIGIN).filter(|origin| *origin == APP);
            (origin.map(|_| APP.to_owned()), Some("Origin"))
        }
    }
}

/// Decision R12: whether HTML is named, with a weight that is none of zero.
fn wants_html(headers: &HeaderMap) -> bool {
    let lines: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let length: usize = headers.get_all(ACCEPT).iter().map(HeaderValue::len).sum();
    length <= 1024
        && lines.join(",").split(',').any(|range| {
            let mut pieces = range.split(';').map(|piece| piece.trim().to_ascii_lowercase());
            let is_html = pieces.next().is_some_and(|name| name == "text/html");
            let weight = pieces.find_map(|piece| piece.strip_prefix("q=").map(str::to_owned));
            is_html && weight.is_none_or(|text| weight_of(&text).is_some_and(|weight| weight > 0))
        })
}

fn success(status: u16, body: Body, cache: &'static str, vary: &str) -> Expected {
    Expected {
        status,
        body,
        cache: Some(cache),
        vary: vary.to_owned(),
        allow: false,
        challenge: None,
        location: None,
        allowed_origin: None,
        must_be_known: false,
    }
}

fn failure(status: u16, code: &'static str, details: Value) -> Expected {
    success(status, Body::Failure { code, details }, "no-store", "")
}

fn not_found() -> Expected {
    failure(404, "not_found", Value::Null)
}
