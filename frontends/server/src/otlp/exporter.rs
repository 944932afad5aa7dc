//! From the requests that are answered to batches of spans for the collector.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use catalogue_core::observe::{FinishedRequest, Observer};
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor as _};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::collector::Collector;
use super::span::Template;
use super::{Exporter, SpanCounts, SpanExport};
use crate::exit::Failure;

/// How many spans wait at most.
const ROOM: u64 = 5_000;
/// How many are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others at most.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long the last spans may take.
const LAST_EXPORT: Duration = Duration::from_secs(5);

/// Begins to send that share of the spans of what is served at `base_url`, over TLS if `secured`. To be called in a
/// runtime.
///
/// # Errors
///
/// The system's certificates, which a collector is checked by, cannot be read.
pub(crate) fn start(export: &SpanExport, base_url: &str, secured: bool) -> Result<Exporter, Failure> {
    let counts = Arc::<SpanCounts>::default();
    let (end, ending) = watch::channel(());
    let collector = Arc::new(Collector::at(export.endpoint.clone(), Arc::clone(&counts), ending)?);
    let exporter = OtlpExporter { collector, runtime: Handle::current() };
    // All of them, as what is left out is read from the environment.
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(ROOM as usize)
        .with_max_export_batch_size(BATCH)
        .with_scheduled_delay(INTERVAL)
        .build();
    let spans = Arc::new(Spans {
        template: Template::new(export.ratio, base_url, secured),
        counts: Arc::clone(&counts),
        batches: BatchSpanProcessor::new(exporter, config),
    });
    Ok(Exporter { observer: spans.clone(), counts, finish: Box::pin(finish(spans, end)) })
}

async fn finish(spans: Arc<Spans>, end: watch::Sender<()>) {
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

/// Puts the span of each request that gets one into the queue.
#[derive(Debug)]
struct Spans {
    template: Template,
    counts: Arc<SpanCounts>,
    batches: BatchSpanProcessor,
}

impl Observer for Spans {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let Some(place) = self.template.place(request.trace) else { return };
        // The queue would drop it too, and tell nobody.
        let has_room = |waiting| (waiting < ROOM).then_some(waiting + 1);
        if self.counts.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room).is_ok() {
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
    /// Where connections live: batches are made on a thread without a runtime.
    runtime: Handle,
}

impl SpanExporter for OtlpExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let collector = Arc::clone(&self.collector);
        let sent = self.runtime.spawn(async move { collector.take(batch).await });
        // It is cancelled where the program ends.
        let sent = sent.await.map_err(|error| OTelSdkError::InternalFailure(error.to_string()));
        self.collector.counts.waiting.fetch_sub(spans, Ordering::Relaxed);
        sent
    }
}
