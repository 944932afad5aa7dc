//! [`AccessLog`]: a line for each request.

use catalogue_core::observe::{ExceededLimit, FinishedRequest, Observer};
use http::{Method, StatusCode};

/// Logs each finished request, under the target `catalogue::access`. Never a token, a cursor, a path or a query. Requests of the
/// developer settings are logged likewise, where they are answered.
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
            outcome = request.explanation.map(|explanation| explanation.word),
            limit = request.exceeded.map(ExceededLimit::name),
            client = is_refused(request.status).then_some(request.client).flatten().map(|client| tracing::field::display(client.0)),
            request_id = request.request_id,
            trace_id = request.trace.map(catalogue_core::observe::TraceParent::trace_id),
        );
    }
}

/// Whether the client's address is noted: where it helps against abuse, and nowhere else.
pub(crate) fn is_refused(status: StatusCode) -> bool {
    [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}

/// The method's name, of those that HTTP defines: another one can be any text.
pub(crate) fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}
