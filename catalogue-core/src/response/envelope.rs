//! Responses with their content headers, and the envelope of failures (sections 1 and 2.6, decisions A13 to A15).

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LINK,
    LOCATION, REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::error::{ApiError, Details, ErrorCode};
use crate::mount_url::MountUrl;
use crate::operation::body::{Reply, json};
use crate::response::conditional::ETag;
use crate::response::entity::{ALLOWED_METHODS, Entity};
use crate::response::negotiation::{accepts_gzip, wants_html};

const JSON: &str = "application/json";

const CACHE_CONTROL_OF_DOCUMENTS: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// Usual number of headers in a response, so that the map grows once.
const TYPICAL_HEADERS: usize = 10;

/// The envelope of every failure (section 2.6).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorEnvelope")]
pub(crate) struct Failure<'e> {
    /// Description of the error.
    error: ErrorBody<'e>,
}

/// Description of the error (section 2.6).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErrorBody")]
struct ErrorBody<'e> {
    /// Code that clients branch on.
    #[schemars(with = "ErrorCode")]
    code: &'static str,
    /// Human-readable; the wording is not stable.
    message: &'e str,
    /// Optional structured detail; its shape varies by code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    details: Option<Details<'e>>,
}

/// Returns a schema for any JSON: an empty one, as some generators refuse `true`.
fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// Returns the entity of an operation's reply, with `etag`, or else with a digest of the bytes as its tag.
pub(crate) fn entity(reply: Reply, etag: Option<ETag>, base: &MountUrl) -> Entity {
    let etag = etag.unwrap_or_else(|| ETag::from_bytes(&reply.body));
    let link = reply.next.map(|next| {
        let link = format!(r#"<{}{next}>; rel="next""#, base.as_str());
        HeaderValue::try_from(link).expect("URLs and cursors are visible ASCII")
    });
    Entity::new(JSON, reply.body, etag, link)
}

/// Returns 200 with an operation's entity, or 304 if the caller has it already.
pub(crate) fn success(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    if entity.etag.is_matched_by(request) {
        return not_modified(&entity.etag);
    }
    let mut response = private(full(entity, request));
    if let Some(link) = &entity.link {
        response.headers_mut().insert(LINK, link.clone());
    }
    response
}

/// Returns 304 for an operation whose response would have the tag `etag`.
pub(crate) fn not_modified(etag: &ETag) -> Response<Bytes> {
    private(bare_not_modified(etag))
}

/// Adds the caching headers of a response that is only for its caller.
fn private(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    headers.insert(VARY, const { HeaderValue::from_static("Authorization, Accept-Encoding") });
    headers.insert(CACHE_CONTROL, const { HeaderValue::from_static("private, no-cache") });
    response
}

/// Returns 200 with a public document, or 304 if the client has it already.
pub(crate) fn document(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    let is_known = entity.etag.is_matched_by(request);
    let mut response = if is_known { bare_not_modified(&entity.etag) } else { full(entity, request) };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.insert(CACHE_CONTROL, CACHE_CONTROL_OF_DOCUMENTS);
    if let Some(policy) = &entity.policy {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::clone(policy));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    response
}

/// Returns 303 to the reference page for a browser at the root (decision R12), and `NotFound` for other clients.
pub(crate) fn root(docs: &MountUrl, request: &HeaderMap) -> Result<Response<Bytes>, ApiError> {
    if !wants_html(request) {
        return Err(ApiError::NotFound);
    }
    let mut response = without_body(StatusCode::SEE_OTHER);
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::try_from(docs.as_str()).expect("URLs are visible ASCII"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, CACHE_CONTROL_OF_DOCUMENTS);
    Ok(response)
}

/// Returns 200 with the entity, compressed if the client prefers that.
fn full(entity: &Entity, request: &HeaderMap) -> Response<Bytes> {
    let compressed = accepts_gzip(request).then(|| entity.compressed()).flatten();
    let body = compressed.unwrap_or(&entity.plain).clone();
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.reserve(TYPICAL_HEADERS);
    headers.insert(CONTENT_TYPE, entity.media_type.clone());
    headers.insert(CONTENT_LENGTH, length);
    if compressed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(ETAG, entity.etag.header());
    response
}

/// Returns 204 with the methods of a known path.
pub(crate) fn options() -> Response<Bytes> {
    let mut response = without_body(StatusCode::NO_CONTENT);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
    response
}

fn bare_not_modified(etag: &ETag) -> Response<Bytes> {
    let mut response = without_body(StatusCode::NOT_MODIFIED);
    response.headers_mut().insert(ETAG, etag.header());
    response
}

fn without_body(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response.headers_mut().reserve(TYPICAL_HEADERS);
    response
}

pub(crate) fn failure(error: &ApiError, request_id: &str) -> Response<Bytes> {
    let (code, message) = (error.code().as_str(), error.message());
    let body = json(&Failure { error: ErrorBody { code, message: &message, details: error.details(request_id) } });
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body.into());
    *response.status_mut() = error.status();
    let headers = response.headers_mut();
    headers.reserve(TYPICAL_HEADERS);
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
