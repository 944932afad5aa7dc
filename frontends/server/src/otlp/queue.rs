//! [`Queue`]: spans that wait to be sent.

use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::SpanCounts;
use super::protobuf::Message;

/// How many bytes of spans wait at most: those of some five thousand requests. No batch is larger, so that every collector
/// takes it.
const ROOM: usize = 2 << 20;

/// As many bytes of spans are sent at once.
const BATCH: usize = ROOM / 8;

/// `spans` of the message `ScopeSpans`.
const SPANS: u32 = 2;

/// Spans that wait: what those who answer requests and the task that sends share.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Batch>,
    filled: Notify,
    counts: Arc<SpanCounts>,
}

/// Spans, encoded one after the other as fields of `ScopeSpans`.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) spans: Message,
    pub(super) count: u64,
}

impl Queue {
    /// Takes a span. Where there is no room it is dropped.
    pub(super) fn push(&self, span: &Message) {
        let mut waiting = self.waiting();
        let before = waiting.spans.as_bytes().len();
        if before + span.as_bytes().len() > ROOM {
            drop(waiting);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        waiting.spans.bytes(SPANS, span.as_bytes());
        waiting.count += 1;
        let after = waiting.spans.as_bytes().len();
        drop(waiting);
        if before < BATCH && after >= BATCH {
            self.filled.notify_one();
        }
    }

    /// Waits until there is much to send, but no longer than that.
    pub(super) async fn fill(&self, longest: Duration) {
        // Either is a reason to look.
        let _ = timeout(longest, self.filled.notified()).await;
    }

    /// What waits; `None` where nothing does.
    pub(super) fn take(&self) -> Option<Batch> {
        let batch = mem::take(&mut *self.waiting());
        (batch.count > 0).then_some(batch)
    }

    pub(super) fn counts(&self) -> &Arc<SpanCounts> {
        &self.counts
    }

    fn waiting(&self) -> MutexGuard<'_, Batch> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(bytes: usize) -> Message {
        let mut span = Message::default();
        span.fields(&vec![7; bytes]);
        span
    }

    #[tokio::test]
    async fn what_has_no_room_is_dropped_and_counted() {
        let queue = Queue::default();
        assert!(queue.take().is_none());
        let bytes = ROOM / 100;
        for _ in 0..120 {
            queue.push(&span(bytes));
        }
        let batch = queue.take().unwrap();
        // Each has a key and a length too.
        assert_eq!((batch.count, batch.spans.as_bytes().len()), (99, 99 * (bytes + 4)));
        assert_eq!(queue.counts().dropped.load(Ordering::Relaxed), 21);
        queue.push(&span(1));
        assert_eq!(queue.take().unwrap().spans.as_bytes(), [0x12, 1, 7]);
    }

    /// Would not end otherwise.
    #[tokio::test]
    async fn a_batch_is_a_reason_to_send() {
        let queue = Queue::default();
        queue.push(&span(BATCH));
        queue.fill(Duration::MAX).await;
    }
}
