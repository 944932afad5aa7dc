//! The one place that makes bodies, entity tags and content headers (sections 1 and 2.6, decisions A13 to A15).

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LINK, REFERRER_POLICY,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::address::Address;
use crate::conditional::ETag;
use crate::cursor::Cursor;
use crate::documents::{Document, Documents};
use crate::error::{ApiError, ErrorCode};
use crate::operation::{Operation, Reply};
use crate::route::ALLOWED_METHODS;

const JSON: &str = "application/json";

/// Finished bytes with their media type and tag.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    media_type: HeaderValue,
    body: Bytes,
    etag: ETag,
    /// The Content Security Policy of a page; nothing else has one.
    policy: Option<HeaderValue>,
}

impl Entity {
    pub(crate) fn new(media_type: &'static str, body: Bytes) -> Self {
        Self { media_type: HeaderValue::from_static(media_type), etag: ETag::of_bytes(&body), body, policy: None }
    }

    /// The same as a page of which a browser may load and run only what the policy names.
    pub(crate) fn with_policy(self, policy: HeaderValue) -> Self {
        Self { policy: Some(policy), ..self }
    }
}

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
    data: &'d [T],
    /// Where the next page starts; always present.
    meta: PaginationMeta<'d>,
}

/// What a page says of the page after it (section 2.5).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PaginationMeta")]
struct PaginationMeta<'d> {
    /// Opaque cursor to pass as the `cursor` query parameter for the next page; null when there is no further page.
    next_cursor: Option<&'d str>,
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

/// What an operation replied, as bytes.
pub(crate) fn render(reply: &Reply, documents: &Documents) -> Entity {
    match body(reply) {
        Some(body) => Entity::new(JSON, body),
        None => documents.get(Document::OpenApi).clone(),
    }
}

/// The body of a reply; `None` for the OpenAPI document, which is made once and not for each reply.
pub(crate) fn body(reply: &Reply) -> Option<Bytes> {
    Some(match reply {
        Reply::Me(identity) => json(&Success { data: &identity.view() }),
        Reply::Courses(list) => {
            let meta = PaginationMeta { next_cursor: list.next.as_ref().map(Cursor::as_str) };
            json(&SuccessPage { data: &list.items, meta })
        }
        Reply::Course(course) => json(&Success { data: course }),
        Reply::OpenApi => return None,
    })
}

fn json<T: Serialize>(value: &T) -> Bytes {
    serde_json::to_vec(value).expect("texts, numbers and lists always serialise").into()
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
pub(crate) fn answer(entity: &Entity, link: Option<HeaderValue>, request: &HeaderMap) -> Response<Bytes> {
    let mut response = found(entity, request, "private, no-cache");
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Authorization, Accept-Encoding"));
    if let Some(link) = link
        && status == StatusCode::OK
    {
        headers.insert(LINK, link);
    }
    response
}

/// 200 with a public document, or 304 when the caller has it already.
pub(crate) fn document(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    found(entity, request, "public, max-age=300")
}

fn found(entity: &Entity, request: &HeaderMap, cache_control: &'static str) -> Response<Bytes> {
    let mut response = if entity.etag.is_named_in(request) {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        with_body(StatusCode::OK, entity.media_type.clone(), entity.body.clone())
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, entity.etag.header());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
    if let Some(policy) = &entity.policy {
        headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    response
}

/// 204 with the methods of a known path.
pub(crate) fn options() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
    response
}

/// The failure envelope.
pub(crate) fn failure(error: &ApiError, request_id: &str) -> Response<Bytes> {
    let body = json(&Failure {
        error: ErrorBody { code: error.code().as_str(), message: &error.message(), details: error.details(request_id) },
    });
    let mut response = with_body(error.status(), HeaderValue::from_static(JSON), body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(challenge) = error.challenge() {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    match error {
        ApiError::MethodNotAllowed => {
            headers.insert(ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
        }
        ApiError::RateLimited { retry_after_seconds } => {
            headers.insert(RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
        }
        _ => {}
    }
    response
}

fn with_body(status: StatusCode, media_type: HeaderValue, body: Bytes) -> Response<Bytes> {
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    // As many as an answer may have, so that the map grows once.
    headers.reserve(12);
    headers.insert(CONTENT_TYPE, media_type);
    headers.insert(CONTENT_LENGTH, length);
    response
}
