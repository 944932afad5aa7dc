//! Rules for all endpoints.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CACHE_CONTROL;

use super::authentication::authentication;
use super::block::{Block, code};
use crate::documents::VERSION;
use crate::documents::about::Site;
use crate::documents::examples::{self, ExampleResponse};
use crate::error::{ApiError, ErrorCode};
use crate::operation::Operation;
use crate::request_id::MAX_REQUEST_ID_LENGTH;
use crate::response::entity::ALLOWED_METHODS;
use crate::response::entity::Entity;
use crate::response::envelope;
use crate::storage::Limit;

pub(in crate::documents) fn all(site: Site<'_>) -> Vec<Block> {
    let parts = [overview(site), authentication(site), paging(), errors(), conditional(site), limits(), versions()];
    parts.concat()
}

pub(super) fn status(error: ErrorCode) -> String {
    error.status().as_str().to_owned()
}

fn overview(site: Site<'_>) -> Vec<Block> {
    let base_url = match site.base.as_str() {
        "" => "the root of this server",
        url => &code(url),
    };
    vec![
        Block::heading(2, "Overview"),
        Block::text(
            "Creators publish courses made of ordered modules. This read-only API lets an approved partner application \
             list a creator's courses and read their module headers, to link to them or embed them elsewhere. It never \
             returns module bodies.",
        ),
        Block::List(vec![
            format!("Base URL: {base_url}. All paths are relative to it."),
            "Responses are JSON. A successful response is `{ \"data\": …, \"meta\": … }`, with `meta` only in lists; an \
             error is `{ \"error\": { \"code\": …, \"message\": …, \"details\": … } }`, with optional `details`. Only \
             the OpenAPI document has no envelope."
                .to_owned(),
            format!("Times are ISO 8601 in UTC with milliseconds: {}.", code(&example_time(site))),
            format!(
                "Methods: {ALLOWED_METHODS}. HEAD responds like GET, without the body. OPTIONS returns 204 with \
                 `Allow`, even without a token. Any other method gets a {} with `Allow` and the code {}. The body of \
                 a request is ignored.",
                ApiError::MethodNotAllowed.status().as_str(),
                code(ApiError::MethodNotAllowed.code().as_str())
            ),
            "Unknown query parameters are ignored. Paths must match exactly: an extra slash is neither removed nor \
             redirected."
                .to_owned(),
            format!(
                "Every response has `X-Request-Id`: the client's if that is 1 to {MAX_REQUEST_ID_LENGTH} visible ASCII \
                 characters, otherwise a new one. Include it when you report a problem."
            ),
        ]),
    ]
}

/// Returns a time in the format of responses.
fn example_time(site: Site<'_>) -> String {
    let course = examples::success(Operation::GetCourse.spec(), site).body.unwrap_or_default();
    course["data"]["publishedAt"].as_str().unwrap_or_default().to_owned()
}

fn paging() -> Vec<Block> {
    vec![
        Block::heading(2, "Paging"),
        Block::List(vec![
            PAGING.to_owned(),
            limit_rule(),
            "If there is a next page, the `Link` header has its URL: `Link: <…>; rel=\"next\"`.".to_owned(),
            "Courses are ordered by creation time, newest first, and for equal times by slug, descending, byte by byte. \
             Responses do not contain the creation time."
                .to_owned(),
            "Paging is stable under concurrent changes: no course is repeated, and no course that exists throughout is \
             skipped. Changing a course's creation time counts as deleting and re-creating it."
                .to_owned(),
            "A cursor is opaque: pass it unchanged. It works with any `limit`, does not expire, and still works if the \
             course that it points to is deleted. It belongs to one account and grants nothing by itself."
                .to_owned(),
        ]),
    ]
}

pub(in crate::documents) const PAGING: &str = "While `meta.nextCursor` is a string, pass it as `cursor` for the next \
                                               page. When it is null, there is no further page. Do not count items to \
                                               find the end.";

pub(in crate::documents) fn limit_rule() -> String {
    let [minimum, maximum, default] = [Limit::MIN, Limit::MAX, Limit::DEFAULT].map(Limit::get);
    format!(
        "`limit` is {minimum} to {maximum}, and {default} when omitted. Any other value gets a {}; it is never clamped.",
        status(ErrorCode::InvalidRequest)
    )
}

fn errors() -> Vec<Block> {
    let codes =
        ErrorCode::ALL.iter().map(|&error| vec![code(error.as_str()), status(error), error.meaning().to_owned()]);
    let failures = all_failures();
    let details = failures.iter().map(details_row).collect();
    let ids = failures.iter().map(details_id).collect();
    let code_ids = ErrorCode::ALL.iter().map(|&error| error_id(error)).collect();
    vec![
        Block::heading(2, "Errors"),
        Block::text(ERRORS),
        Block::Table { head: &["Code", "Status", "Meaning"], rows: codes.collect(), ids: code_ids },
        Block::text("`error.details` is for programs. Its shape depends on the code:"),
        Block::Table { head: &["Code", "Status", "Details"], rows: details, ids },
        Block::Text(format!(
            "A malformed HTTP request may get a {} or 431 without the envelope; every other error has it. A {} does not \
             mean that the token is invalid: keep it and retry later.",
            status(ErrorCode::InvalidRequest),
            status(ErrorCode::InternalError),
        )),
    ]
}

pub(in crate::documents) const ERRORS: &str =
    "Branch on `error.code`, never on `error.message`, whose wording is not stable.";

/// Returns every error of any endpoint, each once, in the order of the codes.
fn all_failures() -> Vec<ExampleResponse> {
    let mut distinct: Vec<ExampleResponse> = Vec::new();
    for example in Operation::ALL.iter().flat_map(|operation| examples::failures(operation.spec())) {
        if !distinct.iter().any(|known| known.name() == example.name() && known.status == example.status) {
            distinct.push(example);
        }
    }
    distinct.sort_by_key(|example| ErrorCode::ALL.iter().position(|&code| Some(code) == example.code));
    distinct
}

/// Returns the anchor of the row of a code.
pub(super) fn error_id(error: ErrorCode) -> String {
    format!("error-{}", error.as_str().replace('_', "-"))
}

/// Returns the anchor of the row of a reason; empty if the row has only the code.
fn details_id(example: &ExampleResponse) -> String {
    let reason = example.code.filter(|code| code.as_str() != example.name());
    reason.map(|code| format!("{}-{}", error_id(code), example.name().replace('_', "-"))).unwrap_or_default()
}

fn details_row(example: &ExampleResponse) -> Vec<String> {
    let name = example.code.map(ErrorCode::as_str).unwrap_or_default();
    // On one line, with spaces where it may wrap.
    let in_one_line = |details| format!("{details:#}").lines().map(str::trim_start).collect::<Vec<_>>().join(" ");
    let details = example.details().map_or_else(|| "none".to_owned(), |details| code(&in_one_line(details)));
    vec![code(name), example.status.as_str().to_owned(), details]
}

fn conditional(site: Site<'_>) -> Vec<Block> {
    let success = examples::success(Operation::GetMe.spec(), site);
    let failure = &examples::failures(Operation::GetMe.spec())[0];
    let document = envelope::document(&Entity::from_bytes("text/plain", Bytes::new()), &HeaderMap::new());
    let document = document.headers()[CACHE_CONTROL].to_str().expect("visible ASCII");
    vec![
        Block::heading(2, "Conditional requests"),
        Block::text(CONDITIONAL),
        Block::text(&format!(
            "Successful responses also have {} and {}, and are never stale: they include every change that was made \
             before the request arrived. Errors have {}, the public documents {}.",
            field(&success, "Cache-Control"),
            field(&success, "Vary"),
            field(failure, "Cache-Control"),
            code(&format!("Cache-Control: {document}")),
        )),
    ]
}

pub(in crate::documents) const CONDITIONAL: &str = "Every successful response has a weak `ETag`. Send it in `If-None-Match` \
                                                    to get a 304 without a body if nothing changed. A 304 does not \
                                                    count against the rate limit if the server can send it without \
                                                    reading courses; `If-None-Match: *` always counts.";

fn field(example: &ExampleResponse, name: &str) -> String {
    code(&format!("{name}: {}", example.header(name)))
}

fn versions() -> Vec<Block> {
    vec![
        Block::heading(2, "Versions"),
        Block::Text(format!(
            "This is version {VERSION}. Additions may come without notice: endpoints, optional parameters, headers, and \
             properties of responses or `error.details`. Ignore what you do not recognize. Breaking changes get a new \
             base URL."
        )),
    ]
}

fn limits() -> Vec<Block> {
    vec![
        Block::heading(2, "Rate limits"),
        Block::text(&format!(
            "A deployment may set a rate limit for each credential; by default there is none. If one is set, successful \
             responses have `RateLimit-Policy` and `RateLimit`, as defined in revision 10 of the IETF draft. {}",
            rate_limited()
        )),
    ]
}

pub(in crate::documents) fn rate_limited() -> String {
    format!(
        "Over the limit, or if the server is overloaded, you get a {} {}. Wait for the number of seconds in `Retry-After` \
         (also in `details.retryAfterSeconds`).",
        status(ErrorCode::RateLimited),
        code(ErrorCode::RateLimited.as_str())
    )
}
