//! [`Outage`]: whether a store is out of reach, so that nobody waits for it.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether a store is out of reach, and how many requests went on without it. Told in the log once when it begins, and once
/// when it ends.
#[derive(Debug, Default)]
pub(super) struct Outage {
    lasts: AtomicBool,
    uncounted: Arc<AtomicU64>,
}

impl Outage {
    /// Whether the store is not to be asked now.
    pub(super) fn lasts(&self) -> bool {
        self.lasts.load(Ordering::Relaxed)
    }

    /// The store has not answered. Says whether the outage begins with that.
    pub(super) fn begins(&self, why: &dyn Display) -> bool {
        let begins = !self.lasts.swap(true, Ordering::Relaxed);
        if begins {
            tracing::warn!(error = %why, "the store of the rate limit is out of reach; nothing is limited meanwhile");
        }
        begins
    }

    /// The store answers again.
    pub(super) fn ends(&self) {
        self.lasts.store(false, Ordering::Relaxed);
        let uncounted = self.uncounted.load(Ordering::Relaxed);
        tracing::info!(uncounted, "the store of the rate limit answers again");
    }

    /// A request goes on without being counted.
    pub(super) fn let_through(&self) {
        self.uncounted.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests went on without being counted, since the start.
    pub(super) fn uncounted(&self) -> &Arc<AtomicU64> {
        &self.uncounted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_who_get_no_answer_one_begins_the_outage() {
        let outage = Outage::default();
        assert!(!outage.lasts());
        assert!(outage.begins(&"closed") && !outage.begins(&"closed") && outage.lasts());
        outage.ends();
        assert!(!outage.lasts() && outage.begins(&"closed"));
    }
}
