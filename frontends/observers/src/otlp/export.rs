//! From the requests that are answered to batches of spans for the collector.

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

/// How many spans wait at most.
const ROOM: u64 = 5_000;
/// How many are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others at most.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long the last spans may take.
const LAST_EXPORT: Duration = Duration::from_secs(5);

/// What is observed, as clients see it.
#[derive(Clone, Copy, Debug)]
pub struct Site<'s> {
    /// What the catalogue was built with: a whole address or a path.
    pub base_url: &'s str,
    /// Whether clients speak TLS, where the address does not say it.
    pub secured: bool,
}

/// What became of spans, since the start.
#[derive(Debug, Default)]
pub struct SpanCounts {
    /// A collector took them.
    pub exported: AtomicU64,
    /// There was no room for them, or no collector took them.
    pub dropped: AtomicU64,
    /// They wait for others, or are on their way.
    waiting: AtomicU64,
}

/// What sends spans, until [`finish`](Self::finish).
#[derive(Debug)]
pub struct SpanExport {
    spans: Arc<Spans>,
    end: watch::Sender<()>,
}

impl SpanExport {
    /// Begins to send the spans of that share of the requests, from 0 to 1, to the `collector`, whose address has the path of
    /// traces (most often `/v1/traces`), by that client.
    ///
    /// # Panics
    /// Outside a runtime of tokio.
    pub fn start<C>(collector: Uri, ratio: f64, site: Site<'_>, client: Client<C, Full<Bytes>>) -> Self
    where
        C: Connect + Clone + fmt::Debug + Send + Sync + 'static,
    {
        let counts = Arc::<SpanCounts>::default();
        let (end, ending) = watch::channel(());
        let collector = Arc::new(Collector::at(collector, client, Arc::clone(&counts), ending));
        let exporter = OtlpExporter { collector, runtime: Handle::current() };
        // All of them, as what is left out is read from the environment.
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(ROOM as usize)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(INTERVAL)
            .build();
        let template = Template::new(ratio, site);
        let batches = BatchSpanProcessor::new(exporter, config);
        Self { spans: Arc::new(Spans { template, counts, batches }), end }
    }

    /// To be told of each request.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.spans.clone()
    }

    /// What became of spans. It goes on counting.
    #[must_use]
    pub fn counts(&self) -> Arc<SpanCounts> {
        Arc::clone(&self.spans.counts)
    }

    /// Sends what is left, unless the collector does not take it soon: a program that was told to end ends.
    pub async fn finish(self) {
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
struct OtlpExporter<C> {
    collector: Arc<Collector<C>>,
    /// Where connections live: batches are made on a thread without a runtime.
    runtime: Handle,
}

impl<C> SpanExporter for OtlpExporter<C>
where
    C: Connect + Clone + fmt::Debug + Send + Sync + 'static,
{
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
