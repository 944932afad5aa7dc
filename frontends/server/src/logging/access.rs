//! [`AccessLog`]: logs a line for each request.

use catalogue_core::observe::{ExceededLimit, FinishedRequest, Observer};
use http::{Method, StatusCode};

/// Logs each finished request under the target `catalogue::access`, but never a token, a cursor, a path or a query.
/// `SettingsService` logs its own requests in the same form.
#[derive(Debug)]
pub(crate) struct AccessLog;

impl Observer for AccessLog {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let caller = request.caller.or(request.refused);
        tracing::info!(
            target: "catalogue::access",
            operation = request.operation.map_or("other", catalogue_core::Operation::id),
            method = method_name(request.method),
            status = u64::from(request.status.as_u16()),
            duration_us = u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX),
            bytes = request.body_length as u64,
            account = caller.map(|caller| caller.account.as_str()),
            credential = caller.map(|caller| &*caller.credential_id),
            oauth_client = caller.and_then(|caller| caller.issued.as_ref()?.client.as_deref()),
            refusal = request.refusal.map(catalogue_core::auth::Refusal::reason),
            outcome = request.explanation.map(|explanation| explanation.code),
            limit = request.exceeded.map(ExceededLimit::name),
            client = is_refused(request.status).then_some(request.client).flatten().map(|client| tracing::field::display(client.0)),
            request_id = request.request_id,
            trace_id = request.trace.map(catalogue_core::observe::TraceParent::trace_id),
        );
    }
}

/// Returns whether to log the client's address: only for a 401 or a 429, to help against abuse.
pub(crate) fn is_refused(status: StatusCode) -> bool {
    [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}

/// Returns the method's name if HTTP defines it, else `other`: an undefined method can be any text.
pub(crate) fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}
