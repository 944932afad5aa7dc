//! [`Outage`]: a store that is out of reach is asked only now and then, so that nobody waits for it.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a store that failed is left alone.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether a store is out of reach, and how many requests went on without it. Told in the log once when it begins, and once
/// when it ends.
#[derive(Debug)]
pub(super) struct Outage {
    began: Instant,
    /// When the store is to be asked again, in milliseconds; 0 while it answers.
    again: AtomicU64,
    uncounted: Arc<AtomicU64>,
}

impl Outage {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), again: AtomicU64::new(0), uncounted: Arc::default() }
    }

    /// Whether to ask the store now. While it is out of reach one caller does so after each pause.
    pub(super) fn may_ask(&self) -> bool {
        self.may_ask_at(self.now())
    }

    fn may_ask_at(&self, now: u64) -> bool {
        let again = self.again.load(Ordering::Relaxed);
        again == 0
            || (again <= now
                && self
                    .again
                    .compare_exchange(again, now + milliseconds(PAUSE), Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok())
    }

    /// The store has answered.
    pub(super) fn is_over(&self) {
        // Seldom written, so that the answers of all threads share the line.
        if self.again.load(Ordering::Relaxed) != 0 && self.again.swap(0, Ordering::Relaxed) != 0 {
            tracing::info!(
                uncounted = self.uncounted.load(Ordering::Relaxed),
                "the store of the rate limit answers again"
            );
        }
    }

    /// The store has not answered.
    pub(super) fn goes_on(&self, why: &dyn Display) {
        // Never 0, which means that there is no outage.
        if self.again.swap(self.now() + milliseconds(PAUSE), Ordering::Relaxed) == 0 {
            tracing::warn!(error = %why, "the store of the rate limit is out of reach; nothing is limited meanwhile");
        }
    }

    /// A request goes on without being counted.
    pub(super) fn let_through(&self) {
        self.uncounted.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests went on without being counted, since the start.
    pub(super) fn uncounted(&self) -> &Arc<AtomicU64> {
        &self.uncounted
    }

    fn now(&self) -> u64 {
        milliseconds(self.began.elapsed())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("no process lives for so long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_asks_after_each_pause() {
        let outage = Outage::new();
        assert!(outage.may_ask_at(0) && outage.may_ask_at(0));
        outage.goes_on(&"closed");
        let again = outage.again.load(Ordering::Relaxed);
        assert!(!outage.may_ask_at(again - 1));
        assert!(outage.may_ask_at(again) && !outage.may_ask_at(again));
        assert!(outage.may_ask_at(again + milliseconds(PAUSE)));
        outage.is_over();
        assert!(outage.may_ask_at(0) && outage.may_ask_at(0));
    }
}
