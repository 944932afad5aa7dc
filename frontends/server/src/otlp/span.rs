//! The span of a request, as the schema of OTLP has it (`opentelemetry/proto/trace/v1/trace.proto`), named and described by
//! the semantic conventions for HTTP servers.

use std::time::Duration;

use catalogue_core::{FinishedRequest, Operation, Refusal};

use super::protobuf::Message;
use super::sampler::Place;
use crate::logging;

/// The field of a `Span` that its attributes are in.
const ATTRIBUTES: u32 = 9;
/// `SPAN_KIND_SERVER`
const SERVER: u64 = 2;
/// `STATUS_CODE_ERROR`
const ERROR: u64 = 2;
/// The trace's flag `sampled`, and that it is known whether the parent is remote.
const FLAGS: u32 = 0x101;
/// The parent is remote.
const REMOTE: u32 = 0x200;

/// What most spans need.
const USUAL: usize = 1 << 10;

/// What is served, as all of its spans say.
#[derive(Debug)]
pub(super) struct Site {
    /// What clients speak, as far as it is known.
    pub(super) scheme: &'static str,
    /// The path that the operations' are behind.
    pub(super) base_path: String,
}

impl Site {
    /// Served at `base_url`, a whole address or a path; over TLS if `secured`.
    pub(super) fn at(base_url: &str, secured: bool) -> Self {
        let https = match base_url.split_once("://") {
            Some((scheme, _)) => scheme.eq_ignore_ascii_case("https"),
            None => secured,
        };
        let path = base_url.parse().map_or_else(|_| String::new(), |uri: http::Uri| uri.path().to_owned());
        Self { scheme: if https { "https" } else { "http" }, base_path: path.trim_end_matches('/').to_owned() }
    }
}

/// Encodes the span of a request that ended `now`, counted from 1970. Nothing of it is secret: no token, cursor, path or
/// query stands in it.
pub(super) fn encode(request: &FinishedRequest<'_>, place: Place, site: &Site, now: Duration) -> Message {
    let mut span = Message::with_capacity(USUAL);
    span.bytes(1, place.trace.to_be_bytes());
    span.bytes(2, place.span.to_be_bytes());
    if let Some(parent) = place.parent {
        span.bytes(4, parent.to_be_bytes());
    }
    let method = logging::method(request.method);
    span.bytes(5, request.operation.map_or(method.unwrap_or("HTTP"), Operation::id));
    span.integer(6, SERVER);
    span.fixed64(7, nanoseconds(now.saturating_sub(request.duration)));
    span.fixed64(8, nanoseconds(now));
    attributes(&mut span, request, site);
    // What a client does wrong is no fault of the server's.
    if request.status.is_server_error() {
        span.message(15, |status| status.integer(3, ERROR));
    }
    span.fixed32(16, if place.parent.is_some() { FLAGS | REMOTE } else { FLAGS });
    span
}

fn attributes(span: &mut Message, request: &FinishedRequest<'_>, site: &Site) {
    let status = request.status;
    text(span, ATTRIBUTES, "http.request.method", logging::method(request.method).unwrap_or("_OTHER"));
    number(span, "http.response.status_code", u64::from(status.as_u16()));
    number(span, "http.response.body.size", request.body_length as u64);
    text(span, ATTRIBUTES, "url.scheme", site.scheme);
    if let Some(operation) = request.operation {
        text(span, ATTRIBUTES, "http.route", &format!("{}{}", site.base_path, operation.path()));
    }
    if status.is_server_error() {
        text(span, ATTRIBUTES, "error.type", status.as_str());
    }
    text(span, ATTRIBUTES, "catalogue.operation", request.operation.map_or("other", Operation::id));
    text(span, ATTRIBUTES, "catalogue.request_id", request.request_id);
    if let Some(caller) = request.caller {
        text(span, ATTRIBUTES, "catalogue.account", caller.account.as_str());
        text(span, ATTRIBUTES, "catalogue.credential", &caller.credential_id);
    }
    if let Some(refusal) = request.refusal.map(Refusal::reason) {
        text(span, ATTRIBUTES, "catalogue.refusal", refusal);
    }
    if let Some(limit) = request.exceeded.map(logging::limit) {
        text(span, ATTRIBUTES, "catalogue.limit", limit);
    }
}

/// Adds a `KeyValue` with a text.
pub(super) fn text(message: &mut Message, field: u32, key: &str, value: &str) {
    message.message(field, |pair| {
        pair.bytes(1, key);
        pair.message(2, |any| any.bytes(1, value));
    });
}

/// Adds an attribute with a number.
fn number(span: &mut Message, key: &str, value: u64) {
    span.message(ATTRIBUTES, |pair| {
        pair.bytes(1, key);
        pair.message(2, |any| any.integer(3, value));
    });
}

/// Enough until the year 2554.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_what_clients_see() {
        for (base_url, secured, scheme, path) in [
            ("/api/v1", false, "http", "/api/v1"),
            ("/api/v1", true, "https", "/api/v1"),
            ("https://api.example.com/v1/", false, "https", "/v1"),
            ("http://api.example.com", true, "http", ""),
        ] {
            let site = Site::at(base_url, secured);
            assert_eq!((site.scheme, &*site.base_path), (scheme, path), "{base_url}");
        }
    }
}
