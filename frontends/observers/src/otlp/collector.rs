//! [`Collector`]: the program that takes spans.

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

/// The longest that a collector is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer that is read. What stands in it is not looked at.
const ANSWER: usize = 64 << 10;

/// How long a collector that did not take spans is left alone: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A collector.
#[derive(Debug)]
pub(crate) struct Collector<C> {
    endpoint: Uri,
    client: Client<C, Full<Bytes>>,
    resource: ResourceAttributesWithSchema,
    pub(crate) counts: Arc<SpanCounts>,
    /// Whether the last spans were not taken. That is logged once.
    is_away: AtomicBool,
    /// Closed when the program ends.
    ending: watch::Receiver<()>,
}

/// Why spans were not taken.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    why: String,
    /// How long the collector is to be left alone before they are sent again; `None` where it refuses them.
    pause: Option<Duration>,
}

impl<C: Connect + Clone + Send + Sync + 'static> Collector<C> {
    /// The collector that is there. Nothing is asked yet.
    pub(crate) fn at(
        endpoint: Uri,
        client: Client<C, Full<Bytes>>,
        counts: Arc<SpanCounts>,
        ending: watch::Receiver<()>,
    ) -> Self {
        Self { endpoint, client, resource: resource(), counts, is_away: AtomicBool::new(false), ending }
    }

    /// Sends spans, again and again while that may help; at the end of the program once more.
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
            // Over before it at the end of the program.
            let _ = timeout(pause.max(asked_for.min(LONGEST_PAUSE)), ending.changed()).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Sends a message, and waits until it is taken.
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
            // Read to its end, so that nothing is cut off for the collector.
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

/// Who sends spans: `service` of the semantic conventions. Without what a resource reads from the environment.
fn resource() -> ResourceAttributesWithSchema {
    let attributes = [
        KeyValue::new("service.name", "catalogue"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", RandomIdGenerator::default().new_trace_id().to_string()),
    ];
    (&Resource::builder_empty().with_attributes(attributes).build()).into()
}

/// What an answer means (OTLP specification 1.0, "OTLP/HTTP Response").
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
