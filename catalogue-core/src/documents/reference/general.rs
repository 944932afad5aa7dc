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
    let base_address = match site.base.as_str() {
        "" => "the root of this server",
        address => &code(address),
    };
    vec![
        Block::heading(2, "Overview"),
        Block::text(
            "Creators package what they know into courses of ordered modules. This API lets an approved partner \
             application list a creator's own courses and read their module headers, to link to them or to embed them \
             elsewhere. It changes nothing, and a module's body is in no answer.",
        ),
        Block::List(vec![
            format!("Base address: {base_address}. All paths are relative to it."),
            "Endpoints answer JSON. A success is `{ \"data\": …, \"meta\": … }`, where only lists have `meta`; a failure is \
             `{ \"error\": { \"code\": …, \"message\": …, \"details\": … } }`, where `details` may be absent. The \
             OpenAPI document alone stands bare."
                .to_owned(),
            format!("Times are ISO 8601 in UTC with milliseconds: {}.", code(&example_time(site))),
            format!(
                "Methods: {ALLOWED_METHODS}. HEAD answers as GET does, without the body; OPTIONS answers 204 \
                 with `Allow`, without a token too. Any other method is answered {} with `Allow` and the code {}. The \
                 body of a request is ignored.",
                ApiError::MethodNotAllowed.status().as_str(),
                code(ApiError::MethodNotAllowed.code().as_str())
            ),
            "Query parameters that the endpoint does not know are ignored. A path with a slash too many is another \
             path; nothing is redirected."
                .to_owned(),
            format!(
                "Every answer carries `X-Request-Id`: the caller's own when it is 1 to {MAX_REQUEST_ID_LENGTH} visible ASCII \
                 characters, else a new one. Name it when you report a failure."
            ),
        ]),
    ]
}

/// Returns a time in the format of responses.
fn example_time(site: Site<'_>) -> String {
    let course = examples::success(Operation::GetCourse.row(), site).body.unwrap_or_default();
    course["data"]["publishedAt"].as_str().unwrap_or_default().to_owned()
}

fn paging() -> Vec<Block> {
    vec![
        Block::heading(2, "Paging"),
        Block::List(vec![
            PAGING.to_owned(),
            limit_rule(),
            "A page with a further one also carries its address: `Link: <…>; rel=\"next\"`.".to_owned(),
            "The order is by creation time, newest first, and for equal times by slug, descending, byte by byte. The \
             creation time itself is in no answer."
                .to_owned(),
            "A walk from the first page to the last never repeats a course, and never skips one that was there all the \
             while, whatever else is created, changed or deleted meanwhile. A course that is given another creation time \
             counts as deleted and created."
                .to_owned(),
            "A cursor is opaque: pass it on as it is. It works with any `limit`, does not expire, and still works when \
             the course that it points at was deleted. It belongs to one account, and grants nothing by itself."
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
        "`limit` is {minimum} to {maximum}, and {default} when it is left out. Anything else is answered {}; it is never \
         clamped.",
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
        Block::text("`error.details` says more to programs. Its shape varies by code:"),
        Block::Table { head: &["Code", "Status", "Details"], rows: details, ids },
        Block::Text(format!(
            "What cannot be read as a request at all may be answered by a bare {} or 431; no other failure is \
             without the envelope. A {} says nothing of the token: keep it, and try again later.",
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
    for example in Operation::ALL.iter().flat_map(|operation| examples::failures(operation.row())) {
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
    let success = examples::success(Operation::GetMe.row(), site);
    let failure = &examples::failures(Operation::GetMe.row())[0];
    let document = envelope::document(&Entity::of_bytes("text/plain", Bytes::new()), &HeaderMap::new());
    let document = document.headers()[CACHE_CONTROL].to_str().expect("visible ASCII");
    vec![
        Block::heading(2, "Conditional requests"),
        Block::text(CONDITIONAL),
        Block::text(&format!(
            "Such an answer also carries {} and {}, and is never stale: every change that was made before the request \
             arrived is in it. Failures carry {}, the public documents {}.",
            field(&success, "Cache-Control"),
            field(&success, "Vary"),
            field(failure, "Cache-Control"),
            code(&format!("Cache-Control: {document}")),
        )),
    ]
}

pub(in crate::documents) const CONDITIONAL: &str = "Every success carries a weak `ETag`. Send it back in `If-None-Match`: \
                                                    while nothing has changed the answer is 304 without a body. It \
                                                    costs nothing of a rate limit where the server can tell without \
                                                    reading the courses; `If-None-Match: *` always costs one request.";

fn field(example: &ExampleResponse, name: &str) -> String {
    code(&format!("{name}: {}", example.header(name)))
}

fn versions() -> Vec<Block> {
    vec![
        Block::heading(2, "Versions"),
        Block::Text(format!(
            "This is version {VERSION}. Without notice there are additions only: an endpoint, an optional parameter, a \
             header, a property of an answer or of `error.details`. Ignore what you do not know. Whatever would break a \
             client gets another base address."
        )),
    ]
}

fn limits() -> Vec<Block> {
    vec![
        Block::heading(2, "Rate limits"),
        Block::text(&format!(
            "A deployment may set a rate limit for each credential; by default there is none. While one is set, \
             successful answers carry `RateLimit-Policy` and `RateLimit`, as revision 10 of the IETF draft writes them. \
             {}",
            rate_limited()
        )),
    ]
}

pub(in crate::documents) fn rate_limited() -> String {
    format!(
        "Beyond the limit, and when the server is overloaded, the answer is {} {}: wait as many seconds as `Retry-After` \
         and `details.retryAfterSeconds` say.",
        status(ErrorCode::RateLimited),
        code(ErrorCode::RateLimited.as_str())
    )
}
