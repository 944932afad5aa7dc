//! Exports the spans of finished requests in batches to the collector.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::observe::{FinishedRequest, Observer};
use http::Uri;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor as _};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::collector::Collector;
use super::span::Template;

/// Maximum number of spans that are queued or being sent.
const MAX_QUEUED_SPANS: u64 = 5_000;
/// Maximum number of spans in a batch.
const MAX_BATCH_SPANS: usize = 512;
/// Maximum time for which a span waits for its batch to fill.
const INTERVAL: Duration = Duration::from_secs(2);
/// Timeout for the last export.
const FINAL_EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// The observed catalogue, as clients see it.
#[derive(Clone, Copy, Debug)]
pub struct Site<'s> {
    /// The base URL that the catalogue was built with: absolute, or only a path.
    pub base_url: &'s str,
    /// Whether clients use TLS, if `base_url` has no scheme.
    pub secured: bool,
}

/// Counters of spans since the start.
#[derive(Debug, Default)]
pub struct SpanCounts {
    /// Spans that a collector accepted.
    pub exported: AtomicU64,
    /// Spans dropped because the queue was full or because no collector accepted them.
    pub dropped: AtomicU64,
    /// Spans that are queued or being sent.
    waiting: AtomicU64,
}

/// Export of spans, until [`finish`](Self::finish).
#[derive(Debug)]
pub struct SpanExport {
    spans: Arc<Spans>,
    end: watch::Sender<()>,
}

impl SpanExport {
    /// Starts to export the spans of requests whose caller sampled its trace, and of a fraction `ratio` (0 to 1) of the requests
    /// without a trace. `client` sends them to `collector`, the full URL for traces, usually with the path `/v1/traces`.
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    pub fn start<C>(collector: Uri, ratio: f64, site: Site<'_>, client: Client<C, Full<Bytes>>) -> Self
    where
        C: Connect + Clone + fmt::Debug + Send + Sync + 'static,
    {
        let counts = Arc::<SpanCounts>::default();
        let (end, ending) = watch::channel(());
        let collector = Arc::new(Collector::new(collector, client, Arc::clone(&counts), ending));
        let exporter = OtlpExporter { collector, runtime: Handle::current() };
        // Sets every option, because the SDK reads those that are not set from the environment.
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_QUEUED_SPANS as usize)
            .with_max_export_batch_size(MAX_BATCH_SPANS)
            .with_scheduled_delay(INTERVAL)
            .build();
        let template = Template::new(ratio, site);
        let batches = BatchSpanProcessor::new(exporter, config);
        Self { spans: Arc::new(Spans { template, counts, batches }), end }
    }

    /// Returns the catalogue's observer.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.spans.clone()
    }

    /// Returns the counters of spans, which continue to change.
    #[must_use]
    pub fn counts(&self) -> Arc<SpanCounts> {
        Arc::clone(&self.spans.counts)
    }

    /// Sends the remaining spans. Waits at most 5 s for the collector, so that the program can end.
    pub async fn finish(self) {
        let Self { spans, end } = self;
        drop(end);
        let shut_down = spawn_blocking(move || spans.batches.shutdown_with_timeout(FINAL_EXPORT_TIMEOUT));
        match shut_down.await {
            Ok(Ok(())) => {}
            Ok(Err(OTelSdkError::Timeout(_))) => {
                tracing::warn!("the last spans were not sent: no response from the collector in time");
            }
            Ok(Err(error)) => tracing::error!(%error, "the last spans were not sent"),
            Err(error) => tracing::error!(%error, "the last spans were not sent"),
        }
    }
}

/// Observer that queues the span of each sampled request.
#[derive(Debug)]
struct Spans {
    template: Template,
    counts: Arc<SpanCounts>,
    batches: BatchSpanProcessor,
}

impl Observer for Spans {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let Some(trace_context) = self.template.trace_context(request.trace) else { return };
        // A full queue would drop the span too, but without counting it.
        let next_if_below_limit = |waiting| (waiting < MAX_QUEUED_SPANS).then_some(waiting + 1);
        if self.counts.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next_if_below_limit).is_ok() {
            self.batches.on_end(self.template.span(request, trace_context));
        } else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Exporter that passes batches to the collector.
#[derive(Debug)]
struct OtlpExporter<C> {
    collector: Arc<Collector<C>>,
    /// Runtime for the connections: the SDK exports batches on a thread without one.
    runtime: Handle,
}

impl<C> SpanExporter for OtlpExporter<C>
where
    C: Connect + Clone + fmt::Debug + Send + Sync + 'static,
{
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let collector = Arc::clone(&self.collector);
        let sent = self.runtime.spawn(async move { collector.export(batch).await });
        // An error if the runtime has shut down.
        let sent = sent.await.map_err(|error| OTelSdkError::InternalFailure(error.to_string()));
        self.collector.counts.waiting.fetch_sub(spans, Ordering::Relaxed);
        sent
    }
}
