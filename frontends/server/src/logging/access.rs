//! [`AccessLog`]: a line for each request.

use catalogue_core::observe::{ExceededLimit, FinishedRequest, Observer};
use http::{Method, StatusCode};

/// Logs each finished request, under the target `catalogue::access`. Never a token, a cursor, a path or a query.
#[derive(Debug)]
pub(crate) struct AccessLog;

impl Observer for AccessLog {
    fn finished(&self, request: &FinishedRequest<'_>) {
        // An address is noted where it helps against abuse, and nowhere else.
        let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&request.status);
        tracing::info!(
            target: "catalogue::access",
            operation = request.operation.map_or("other", catalogue_core::Operation::id),
            method = method(request.method).unwrap_or("other"),
            status = u64::from(request.status.as_u16()),
            duration_us = u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX),
            bytes = request.body_length as u64,
            account = request.caller.map(|caller| caller.account.as_str()),
            credential = request.caller.map(|caller| &*caller.credential_id),
            refusal = request.refusal.map(catalogue_core::auth::Refusal::reason),
            limit = request.exceeded.map(limit),
            client = is_refused.then_some(request.client).flatten().map(|client| tracing::field::display(client.0)),
            request_id = request.request_id,
            trace_id = request.trace.map(catalogue_core::observe::TraceParent::trace_id),
        );
    }
}

/// The method's name, of those that HTTP defines: another one can be any text.
pub(crate) fn method(method: &Method) -> Option<&'static str> {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str())
}

/// The limit's name in logs and metrics.
pub(crate) fn limit(limit: ExceededLimit) -> &'static str {
    match limit {
        ExceededLimit::InFlight => "in_flight",
        ExceededLimit::Credential => "credential",
        ExceededLimit::ClientAddress => "client_address",
        _ => "other",
    }
}
