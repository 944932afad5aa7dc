//! The one place that makes bodies, entity tags and content headers (sections 1 and 2.6, decisions A13 to A15).

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LINK,
    REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::address::Address;
use crate::conditional::ETag;
use crate::entity::Entity;
use crate::error::{ApiError, ErrorCode};
use crate::negotiation::accepted_codings;
use crate::operation::{Operation, Reply};
use crate::route::ALLOWED_METHODS;

const JSON: &str = "application/json";

const VARY_OF_ANSWERS: HeaderValue = HeaderValue::from_static("Authorization, Accept-Encoding");
const CACHE_CONTROL_OF_ANSWERS: HeaderValue = HeaderValue::from_static("private, no-cache");

/// As many headers as an answer usually has, so that the map grows once.
const USUAL_HEADERS: usize = 10;

/// The envelope of a success (section 1).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{T}Envelope")]
pub(crate) struct Success<'d, T> {
    /// What was asked for.
    data: &'d T,
}

/// The envelope of one page of a list (section 4.2).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{T}Page")]
pub(crate) struct SuccessPage<'d, T> {
    /// The items of this page, in the list's order.
    pub(crate) data: &'d [T],
    /// Where the next page starts; always present.
    pub(crate) meta: PaginationMeta<'d>,
}

/// What a page says of the page after it (section 2.5).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PaginationMeta")]
pub(crate) struct PaginationMeta<'d> {
    /// Opaque cursor to pass as the `cursor` query parameter for the next page; null when there is no further page.
    pub(crate) next_cursor: Option<&'d str>,
}

/// The envelope of every failure (section 2.6).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorEnvelope")]
pub(crate) struct Failure<'e> {
    /// What went wrong.
    error: ErrorBody<'e>,
}

/// What went wrong (section 2.6).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorBody")]
struct ErrorBody<'e> {
    /// What clients branch on.
    #[schemars(with = "ErrorCode")]
    code: &'static str,
    /// Human-readable; the wording is not stable.
    message: &'e str,
    /// Optional structured detail; its shape varies by code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    details: Option<Value>,
}

/// Any JSON. An empty schema and not `true`, which some generators refuse.
fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// What an operation replied, as bytes with that tag, or one of their own. `None` for the OpenAPI document, which is made
/// once and not for each reply.
pub(crate) fn render(reply: &Reply, etag: Option<ETag>, base: &Address) -> Option<Entity> {
    let body = body(reply)?;
    let etag = etag.unwrap_or_else(|| ETag::of_bytes(&body));
    Some(Entity::new(JSON, body, etag, next_link(reply, base)))
}

/// The body of a reply; `None` for the OpenAPI document.
pub(crate) fn body(reply: &Reply) -> Option<Bytes> {
    Some(match reply {
        Reply::Me(identity) => json(&Success { data: &identity.view() }),
        Reply::Courses(list) => list.body.finish(list.next.as_ref()),
        Reply::Course(course) => json(&Success { data: course }),
        Reply::OpenApi => return None,
    })
}

fn json<T: Serialize>(value: &T) -> Bytes {
    let mut body = serde_json::to_vec(value).expect("texts, numbers and lists always serialise");
    // A body may be kept, and would keep what it has room for.
    body.shrink_to_fit();
    body.into()
}

/// The `Link` to the page after this one, if there is one (decision A18).
pub(crate) fn next_link(reply: &Reply, base: &Address) -> Option<HeaderValue> {
    let Reply::Courses(list) = reply else {
        return None;
    };
    let cursor = list.next.as_ref()?.as_str();
    let (base, path) = (base.as_str(), Operation::ListCourses.row().path);
    let limit = list.named_limit.map(|limit| format!("&limit={}", limit.get())).unwrap_or_default();
    let link = format!(r#"<{base}{path}?cursor={cursor}{limit}>; rel="next""#);
    Some(HeaderValue::try_from(link).expect("addresses and cursors are visible ASCII"))
}

/// 200 with an operation's answer, or 304 when the caller has it already.
pub(crate) fn answer(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    if entity.etag.is_named_in(request) {
        return not_modified(&entity.etag);
    }
    let mut response = found(entity, request);
    let headers = response.headers_mut();
    headers.insert(VARY, VARY_OF_ANSWERS);
    headers.insert(CACHE_CONTROL, CACHE_CONTROL_OF_ANSWERS);
    if let Some(link) = &entity.link {
        headers.insert(LINK, link.clone());
    }
    response
}

/// 304 for an operation whose answer would have that tag.
pub(crate) fn not_modified(etag: &ETag) -> Response<Bytes> {
    let mut response = without_body(StatusCode::NOT_MODIFIED);
    let headers = response.headers_mut();
    headers.insert(ETAG, etag.header());
    headers.insert(VARY, VARY_OF_ANSWERS);
    headers.insert(CACHE_CONTROL, CACHE_CONTROL_OF_ANSWERS);
    response
}

/// 200 with a public document, or 304 when the caller has it already.
pub(crate) fn document(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    let mut response = if entity.etag.is_named_in(request) {
        let mut response = without_body(StatusCode::NOT_MODIFIED);
        response.headers_mut().insert(ETAG, entity.etag.header());
        response
    } else {
        found(entity, request)
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    if let Some(policy) = &entity.policy {
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    response
}

/// 200 in the content coding that the caller wants.
fn found(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    let compressed = accepted_codings(request).find_map(|coding| Some((coding, entity.compressed(coding)?)));
    let form = compressed.map_or_else(|| entity.plain(), |(_, form)| form);
    let mut response = Response::new(form.body.clone());
    let headers = response.headers_mut();
    headers.reserve(USUAL_HEADERS);
    headers.insert(CONTENT_TYPE, entity.media_type.clone());
    headers.insert(CONTENT_LENGTH, form.length.clone());
    if let Some((coding, _)) = compressed {
        headers.insert(CONTENT_ENCODING, coding.header());
    }
    headers.insert(ETAG, entity.etag.header());
    response
}

/// 204 with the methods of a known path.
pub(crate) fn options() -> Response<Bytes> {
    let mut response = without_body(StatusCode::NO_CONTENT);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
    response
}

fn without_body(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response.headers_mut().reserve(USUAL_HEADERS);
    response
}

/// The failure envelope.
pub(crate) fn failure(error: &ApiError, request_id: &str) -> Response<Bytes> {
    let body = json(&Failure {
        error: ErrorBody { code: error.code().as_str(), message: &error.message(), details: error.details(request_id) },
    });
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body);
    *response.status_mut() = error.status();
    let headers = response.headers_mut();
    headers.reserve(USUAL_HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    headers.insert(CONTENT_LENGTH, length);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(challenge) = error.challenge() {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    match error {
        ApiError::MethodNotAllowed => {
            headers.insert(ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
        }
        ApiError::RateLimited(throttled) => {
            headers.insert(RETRY_AFTER, HeaderValue::from(throttled.retry_after_seconds));
            if let Some(fields) = &throttled.fields {
                fields.clone().insert_into(headers);
            }
        }
        _ => {}
    }
    response
}
