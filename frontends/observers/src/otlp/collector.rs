//! [`Collector`]: the client of the program that receives spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::chain;
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator, SpanData};
use prost::Message as _;
use tokio::sync::watch;
use tokio::time::timeout;

use super::export::SpanCounts;

/// Timeout for a collector's response.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of a response that is read, in bytes. Its content is ignored.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Delay before the first retry. Doubles with each further one, up to [`MAX_BACKOFF`].
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Client of a collector.
#[derive(Debug)]
pub(crate) struct Collector<C> {
    endpoint: Uri,
    client: Client<C, Full<Bytes>>,
    resource: ResourceAttributesWithSchema,
    pub(crate) counts: Arc<SpanCounts>,
    /// Whether the last export failed. Only the first of consecutive failures is logged.
    is_failing: AtomicBool,
    /// Closed when [`SpanExport::finish`](super::SpanExport::finish) is called.
    ending: watch::Receiver<()>,
}

/// Why an export failed.
#[derive(Debug, PartialEq, Eq)]
struct ExportError {
    reason: String,
    /// Minimum delay before a retry; `None` if the collector rejected the spans for good.
    pause: Option<Duration>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Collector<C> {
    /// Creates a client of the collector at `endpoint`. Sends no request yet.
    pub(crate) fn new(
        endpoint: Uri,
        client: Client<C, Full<Bytes>>,
        counts: Arc<SpanCounts>,
        ending: watch::Receiver<()>,
    ) -> Self {
        Self { endpoint, client, resource: resource(), counts, is_failing: AtomicBool::new(false), ending }
    }

    /// Exports spans, and retries if the error may be temporary. Once `ending` is closed, tries only once more.
    pub(crate) async fn export(&self, spans: Vec<SpanData>) {
        let count = spans.len() as u64;
        let resource_spans = group_spans_by_resource_and_scope(spans, &self.resource);
        let message = Bytes::from(ExportTraceServiceRequest { resource_spans }.encode_to_vec());
        let mut ending = self.ending.clone();
        let mut pause = INITIAL_BACKOFF;
        loop {
            let is_last_attempt = ending.has_changed().is_err();
            let Err(error) = self.send(message.clone()).await else {
                self.counts.exported.fetch_add(count, Ordering::Relaxed);
                return self.log_success();
            };
            self.log_failure(&error);
            let Some(retry_after) = error.pause.filter(|_| !is_last_attempt) else {
                self.counts.dropped.fetch_add(count, Ordering::Relaxed);
                return;
            };
            // Ends early if `ending` is closed.
            let _ = timeout(pause.max(retry_after.min(MAX_BACKOFF)), ending.changed()).await;
            pause = (pause * 2).min(MAX_BACKOFF);
        }
    }

    /// Sends a message. Returns an error unless the collector accepts it.
    async fn send(&self, message: Bytes) -> Result<(), ExportError> {
        let temporary = |reason| ExportError { reason, pause: Some(Duration::ZERO) };
        let request = Request::post(&self.endpoint)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(USER_AGENT, concat!("catalogue/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(message))
            .expect("the endpoint is a valid URL");
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| temporary(chain(&error)))?;
            let outcome = response_outcome(response.status(), response.headers());
            // Read to its end, so that the collector can send it completely.
            let _ = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
            outcome
        };
        let outcome = timeout(EXPORT_TIMEOUT, exchange).await;
        outcome.unwrap_or_else(|_| Err(temporary(format!("no response within {EXPORT_TIMEOUT:?}"))))
    }

    fn log_failure(&self, ExportError { reason, pause }: &ExportError) {
        let was_logged = self.is_failing.swap(true, Ordering::Relaxed);
        match pause {
            _ if was_logged => {}
            Some(_) => {
                tracing::warn!(error = reason, "the collector is unavailable; buffering spans");
            }
            None => tracing::warn!(error = reason, "the collector rejected spans; dropping them"),
        }
    }

    fn log_success(&self) {
        if self.is_failing.swap(false, Ordering::Relaxed) {
            let dropped = self.counts.dropped.load(Ordering::Relaxed);
            tracing::info!(dropped, "the collector accepts spans again");
        }
    }
}

/// Returns the resource: the attributes `service.*` of the semantic conventions, and none from the environment.
fn resource() -> ResourceAttributesWithSchema {
    let attributes = [
        KeyValue::new("service.name", "catalogue"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", RandomIdGenerator::default().new_trace_id().to_string()),
    ];
    (&Resource::builder_empty().with_attributes(attributes).build()).into()
}

/// Interprets a response (OTLP specification 1.0, "OTLP/HTTP Response").
fn response_outcome(status: StatusCode, headers: &HeaderMap) -> Result<(), ExportError> {
    if status.is_success() {
        return Ok(());
    }
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default();
    let is_temporary = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    Err(ExportError {
        reason: format!("unexpected status {status}"),
        pause: is_temporary.then(|| Duration::from_secs(retry_after)),
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_temporary_failures_are_retried() {
        for (status, is_temporary) in [
            (301, false),
            (400, false),
            (404, false),
            (413, false),
            (429, true),
            (500, false),
            (502, true),
            (503, true),
            (504, true),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let error = response_outcome(status, &HeaderMap::new()).unwrap_err();
            assert_eq!(error.pause, is_temporary.then_some(Duration::ZERO), "{status}");
            assert!(error.reason.contains(status.as_str()), "{error:?}");
        }
        assert_eq!(response_outcome(StatusCode::ACCEPTED, &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn retry_after_sets_pause() {
        for (value, seconds) in [("7", 7), ("-1", 0), ("Fri, 20 Nov 2026 15:00:00 GMT", 0)] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            let error = response_outcome(StatusCode::SERVICE_UNAVAILABLE, &headers).unwrap_err();
            assert_eq!(error.pause, Some(Duration::from_secs(seconds)), "{value}");
        }
    }
}
