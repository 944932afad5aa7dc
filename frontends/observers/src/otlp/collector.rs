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
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum length of a response that is read, in bytes. Its content is ignored.
const ANSWER: usize = 64 << 10;

/// Delay before a retry: the first one, and the maximum.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Client of a collector.
#[derive(Debug)]
pub(crate) struct Collector<C> {
    endpoint: Uri,
    client: Client<C, Full<Bytes>>,
    resource: ResourceAttributesWithSchema,
    pub(crate) counts: Arc<SpanCounts>,
    /// Whether the last export failed. The first failure is logged.
    is_away: AtomicBool,
    /// Closed when the program ends.
    ending: watch::Receiver<()>,
}

/// Why an export failed.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    why: String,
    /// Requested delay before a retry; `None` if the collector rejected the spans.
    pause: Option<Duration>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Collector<C> {
    /// Creates a client of the collector at `endpoint`. Sends no request yet.
    pub(crate) fn at(
        endpoint: Uri,
        client: Client<C, Full<Bytes>>,
        counts: Arc<SpanCounts>,
        ending: watch::Receiver<()>,
    ) -> Self {
        Self { endpoint, client, resource: resource(), counts, is_away: AtomicBool::new(false), ending }
    }

    /// Exports spans, and retries while that may help. After the program begins to end, it tries only once more.
    pub(crate) async fn take(&self, spans: Vec<SpanData>) {
        let count = spans.len() as u64;
        let resource_spans = group_spans_by_resource_and_scope(spans, &self.resource);
        let message = Bytes::from(ExportTraceServiceRequest { resource_spans }.encode_to_vec());
        let mut ending = self.ending.clone();
        let mut pause = FIRST_PAUSE;
        loop {
            let ends = ending.has_changed().is_err();
            let Err(fault) = self.ask(message.clone()).await else {
                self.counts.exported.fetch_add(count, Ordering::Relaxed);
                return self.tell_success();
            };
            self.tell(&fault);
            let Some(asked_for) = fault.pause.filter(|_| !ends) else {
                self.counts.dropped.fetch_add(count, Ordering::Relaxed);
                return;
            };
            // Ends early if the program ends.
            let _ = timeout(pause.max(asked_for.min(LONGEST_PAUSE)), ending.changed()).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Sends a message, and waits until it is accepted.
    async fn ask(&self, message: Bytes) -> Result<(), Fault> {
        let passing = |why| Fault { why, pause: Some(Duration::ZERO) };
        let request = Request::post(&self.endpoint)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(USER_AGENT, concat!("catalogue/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(message))
            .expect("an address that was read can be asked");
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| passing(chain(&error)))?;
            let answer = meaning(response.status(), response.headers());
            // Read to its end, so that the collector can send it completely.
            let _ = Limited::new(response.into_body(), ANSWER).collect().await;
            answer
        };
        let answered = timeout(PATIENCE, exchange).await;
        answered.unwrap_or_else(|_| Err(passing(format!("no answer for {PATIENCE:?}"))))
    }

    fn tell(&self, Fault { why, pause }: &Fault) {
        let is_told = self.is_away.swap(true, Ordering::Relaxed);
        match pause {
            _ if is_told => {}
            Some(_) => tracing::warn!(error = why, "the collector does not take spans; they wait while there is room"),
            None => tracing::warn!(error = why, "the collector refuses spans; they are dropped"),
        }
    }

    fn tell_success(&self) {
        if self.is_away.swap(false, Ordering::Relaxed) {
            let dropped = self.counts.dropped.load(Ordering::Relaxed);
            tracing::info!(dropped, "the collector takes spans again");
        }
    }
}

/// Returns the resource: `service` of the semantic conventions. Attributes from the environment are excluded.
fn resource() -> ResourceAttributesWithSchema {
    let attributes = [
        KeyValue::new("service.name", "catalogue"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", RandomIdGenerator::default().new_trace_id().to_string()),
    ];
    (&Resource::builder_empty().with_attributes(attributes).build()).into()
}

/// Interprets a response (OTLP specification 1.0, "OTLP/HTTP Response").
fn meaning(status: StatusCode, headers: &HeaderMap) -> Result<(), Fault> {
    if status.is_success() {
        return Ok(());
    }
    let asked_for = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or_default();
    let passes = matches!(status.as_u16(), 429 | 502 | 503 | 504);
    Err(Fault { why: format!("the answer was {status}"), pause: passes.then(|| Duration::from_secs(asked_for)) })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_what_may_pass_is_asked_again() {
        for (status, passes) in [
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
            let fault = meaning(status, &HeaderMap::new()).unwrap_err();
            assert_eq!(fault.pause, passes.then_some(Duration::ZERO), "{status}");
            assert!(fault.why.contains(status.as_str()), "{fault:?}");
        }
        assert_eq!(meaning(StatusCode::ACCEPTED, &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn a_collector_may_ask_for_a_pause() {
        for (value, seconds) in [("7", 7), ("-1", 0), ("Fri, 20 Nov 2026 15:00:00 GMT", 0)] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            let fault = meaning(StatusCode::SERVICE_UNAVAILABLE, &headers).unwrap_err();
            assert_eq!(fault.pause, Some(Duration::from_secs(seconds)), "{value}");
        }
    }
}
