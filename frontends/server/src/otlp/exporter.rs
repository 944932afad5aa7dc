//! [`Exporter`]: the task that sends spans.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::Observer;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::SpanCounts;
use super::collector::{Collector, Fault};
use super::endpoint::Endpoint;
use super::observer::Spans;
use super::protobuf::Message;
use super::queue::{Batch, Queue};
use super::sampler::{Ids, Sampler};
use super::span::{Site, text};
use crate::exit::Failure;

/// How long a span waits for others at most.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long a collector that did not take spans is left alone: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the last spans may take.
const LAST_EXPORT: Duration = Duration::from_secs(5);

/// Sends spans, until [`finish`](Self::finish).
pub(crate) struct Exporter {
    spans: Arc<Spans>,
    end: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Exporter {
    /// Begins to send that share of the spans of what is served at `base_url`.
    pub(super) fn start(endpoint: &Endpoint, ratio: f64, base_url: &str, secured: bool) -> Result<Self, Failure> {
        let queue = Arc::<Queue>::default();
        let sender = Sender {
            queue: Arc::clone(&queue),
            collector: Collector::at(endpoint)?,
            resource: resource(),
            is_away: false,
        };
        let (end, ending) = watch::channel(false);
        let task = tokio::spawn(sender.run(End(ending)));
        let spans = Spans { sampler: Sampler::new(ratio), site: Site::at(base_url, secured), queue };
        Ok(Self { spans: Arc::new(spans), end, task })
    }

    /// What is to be told of each request.
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.spans) as Arc<dyn Observer>
    }

    /// What becomes of spans.
    pub(crate) fn counts(&self) -> Arc<SpanCounts> {
        Arc::clone(self.spans.queue.counts())
    }

    /// Sends what is left, unless the collector does not take it soon: a server that was told to end ends.
    pub(crate) async fn finish(mut self) {
        // The task ends only after it.
        let _ = self.end.send(true);
        match timeout(LAST_EXPORT, &mut self.task).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the last spans were not sent"),
            Err(_) => {
                self.task.abort();
                tracing::warn!("the last spans were not sent: the collector takes too long");
            }
        }
    }
}

/// Who sends them: `service` of the semantic conventions, encoded as fields of the message `Resource`.
fn resource() -> Message {
    let mut resource = Message::default();
    text(&mut resource, 1, "service.name", "catalogue");
    text(&mut resource, 1, "service.version", env!("CARGO_PKG_VERSION"));
    text(&mut resource, 1, "service.instance.id", &format!("{:032x}", Ids::default().of_trace()));
    resource
}

/// Tells when the task has to end.
struct End(watch::Receiver<bool>);

impl End {
    /// Waits for the end, but not longer than for `other`. Says whether it is the end.
    async fn comes_before(&mut self, other: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            // A sender that has gone is the end too.
            _ = self.0.wait_for(|ends| *ends) => true,
            () = other => false,
        }
    }

    fn is_here(&self) -> bool {
        *self.0.borrow()
    }
}

struct Sender {
    queue: Arc<Queue>,
    collector: Collector,
    resource: Message,
    /// Whether the last spans were not taken. That is logged once.
    is_away: bool,
}

impl Sender {
    async fn run(mut self, mut end: End) {
        loop {
            let ends = end.comes_before(self.queue.fill(INTERVAL)).await;
            if let Some(batch) = self.queue.take() {
                self.send(&batch, &mut end).await;
            }
            if ends {
                break;
            }
        }
    }

    /// Sends spans, again and again while that may help; at the end once more.
    async fn send(&mut self, batch: &Batch, end: &mut End) {
        let message = self.message(batch);
        let mut pause = FIRST_PAUSE;
        loop {
            let ends = end.is_here();
            let counts = self.queue.counts();
            match self.collector.take(message.clone()).await {
                Ok(()) => {
                    counts.exported.fetch_add(batch.count, Ordering::Relaxed);
                    return self.is_back();
                }
                Err(fault) => {
                    self.tell(&fault);
                    if ends || !fault.passes {
                        self.queue.counts().dropped.fetch_add(batch.count, Ordering::Relaxed);
                        return;
                    }
                    let asked_for = fault.pause.unwrap_or_default().min(LONGEST_PAUSE);
                    end.comes_before(sleep(pause.max(asked_for))).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// An `ExportTraceServiceRequest`.
    fn message(&self, batch: &Batch) -> Bytes {
        let mut message = Message::with_capacity(batch.spans.as_bytes().len() + 256);
        message.message(1, |resource_spans| {
            resource_spans.bytes(1, self.resource.as_bytes());
            resource_spans.message(2, |scope_spans| {
                scope_spans.message(1, |scope| {
                    scope.bytes(1, "catalogue");
                    scope.bytes(2, env!("CARGO_PKG_VERSION"));
                });
                scope_spans.fields(batch.spans.as_bytes());
            });
        });
        message.into_bytes().into()
    }

    fn tell(&mut self, Fault { why, passes, .. }: &Fault) {
        if mem::replace(&mut self.is_away, true) {
            return;
        }
        if *passes {
            tracing::warn!(
                error = why,
                "the collector does not take spans; as many wait as there is room for, and no request waits for them"
            );
        } else {
            tracing::warn!(error = why, "the collector refuses spans; they are dropped");
        }
    }

    fn is_back(&mut self) {
        if mem::take(&mut self.is_away) {
            let dropped = self.queue.counts().dropped.load(Ordering::Relaxed);
            tracing::info!(dropped, "the collector takes spans again");
        }
    }
}
