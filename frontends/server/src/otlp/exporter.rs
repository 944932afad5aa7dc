//! [`Exporter`]: from the requests that are answered to batches of spans for the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use catalogue_core::observe::{FinishedRequest, Observer};
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor as _};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::SpanCounts;
use super::collector::Collector;
use super::endpoint::Endpoint;
use super::span::Template;
use crate::exit::Failure;

/// How many spans wait at most.
const ROOM: usize = 5_000;
/// How many are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others at most.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long the last spans may take.
const LAST_EXPORT: Duration = Duration::from_secs(5);

/// Sends spans, until [`finish`](Self::finish).
pub(crate) struct Exporter {
    spans: Arc<Spans>,
    end: watch::Sender<()>,
}

impl Exporter {
    /// Begins to send that share of the spans of what is served at `base_url`, over TLS if `secured`. To be called in a
    /// runtime.
    ///
    /// # Errors
    ///
    /// The system's certificates, which a collector is checked by, cannot be read.
    pub(crate) fn start(endpoint: &Endpoint, ratio: f64, base_url: &str, secured: bool) -> Result<Self, Failure> {
        let counts = Arc::<SpanCounts>::default();
        let (end, ending) = watch::channel(());
        let collector = Collector::at(endpoint, Arc::clone(&counts), ending)?;
        let waiting = Arc::<AtomicUsize>::default();
        let exporter =
            OtlpExporter { collector: Arc::new(collector), waiting: Arc::clone(&waiting), runtime: Handle::current() };
        // All of them, as what is left out is read from the environment.
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(ROOM)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(INTERVAL)
            .build();
        let spans = Spans {
            template: Template::new(ratio, base_url, secured),
            waiting,
            counts,
            batches: BatchSpanProcessor::new(exporter, config),
        };
        Ok(Self { spans: Arc::new(spans), end })
    }

    /// What is to be told of each request.
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.spans) as Arc<dyn Observer>
    }

    /// What becomes of spans.
    pub(crate) fn counts(&self) -> Arc<SpanCounts> {
        Arc::clone(&self.spans.counts)
    }

    /// Sends what is left, unless the collector does not take it soon: a server that was told to end ends.
    pub(crate) async fn finish(self) {
        let Self { spans, end } = self;
        drop(end);
        let shut_down = spawn_blocking(move || spans.batches.shutdown_with_timeout(LAST_EXPORT));
        match shut_down.await {
            Ok(Ok(())) => {}
            Ok(Err(OTelSdkError::Timeout(_))) => {
                tracing::warn!("the last spans were not sent: the collector takes too long");
            }
            Ok(Err(error)) => tracing::error!(%error, "the last spans were not sent"),
            Err(error) => tracing::error!(%error, "the last spans were not sent"),
        }
    }
}

/// Puts the span of each request that gets one into the queue.
#[derive(Debug)]
struct Spans {
    template: Template,
    /// How many spans are in the queue and with the collector.
    waiting: Arc<AtomicUsize>,
    counts: Arc<SpanCounts>,
    batches: BatchSpanProcessor,
}

impl Observer for Spans {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let Some(place) = self.template.place(request.trace) else { return };
        // The queue would drop it too, and tell nobody.
        let has_room = |waiting| (waiting < ROOM).then_some(waiting + 1);
        if self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room).is_ok() {
            self.batches.on_end(self.template.span(request, place));
        } else {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Hands batches to the collector.
#[derive(Debug)]
struct OtlpExporter {
    collector: Arc<Collector>,
    waiting: Arc<AtomicUsize>,
    /// Where connections live: batches are made on a thread without a runtime.
    runtime: Handle,
}

impl SpanExporter for OtlpExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let collector = Arc::clone(&self.collector);
        let sent = self.runtime.spawn(async move { collector.take(batch).await });
        // It is cancelled where the program ends.
        let sent = sent.await.map_err(|error| OTelSdkError::InternalFailure(error.to_string()));
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
        sent
    }
}
