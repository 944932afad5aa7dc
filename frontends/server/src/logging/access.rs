//! [`AccessLog`]: a line for each request.

use catalogue_core::AccountId;
use catalogue_core::observe::{ExceededLimit, FinishedRequest, Observer};
use http::{Method, StatusCode};

use crate::developer_settings;

/// Logs each finished request, under the target `catalogue::access`. Never a token, a cursor, a path or a query.
#[derive(Debug)]
pub(crate) struct AccessLog;

impl Observer for AccessLog {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let caller = request.caller.or(request.refused);
        tracing::info!(
            target: "catalogue::access",
            operation = request.operation.map_or("other", catalogue_core::Operation::id),
            method = method(request.method).unwrap_or("other"),
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

/// Logs a finished request of the developer settings likewise.
pub(crate) fn log_settings(request: &developer_settings::FinishedRequest<'_>) {
    let (status, response) = (request.response.status(), request.response);
    tracing::info!(
        target: "catalogue::access",
        operation = format!("settings.{}", request.action),
        method = method(request.method).unwrap_or("other"),
        status = u64::from(status.as_u16()),
        duration_us = u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX),
        bytes = response.body().len() as u64,
        account = request.account.map(AccountId::as_str),
        refusal = request.refusal,
        client = (is_refused(status) || request.refusal.is_some()).then_some(request.client).flatten().map(|client| tracing::field::display(client.0)),
        request_id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok()),
    );
}

/// Whether the client's address is noted: where it helps against abuse, and nowhere else.
fn is_refused(status: StatusCode) -> bool {
    [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&status)
}

/// The method's name, of those that HTTP defines: another one can be any text.
fn method(method: &Method) -> Option<&'static str> {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str())
}
