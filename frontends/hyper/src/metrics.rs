//! [`ConnectionMetrics`]: connections, counted.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::CloseReason;

/// Counts the connections of a listener and what has gone wrong with them, from its start on.
#[derive(Debug, Default)]
pub struct ConnectionMetrics {
    pub(crate) accepted: Counter,
    pub(crate) closed: [Counter; CloseReason::TABLE.len()],
    pub(crate) malformed: Counter,
    pub(crate) refused: Counter,
    pub(crate) panics: Counter,
    pub(crate) accept_failures: Counter,
}

impl ConnectionMetrics {
    /// How many connections were accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.get()
    }

    /// How many are open.
    pub fn open(&self) -> u64 {
        self.accepted().saturating_sub(self.closed().map(|(_, count)| count).sum())
    }

    /// How many have ended, by reason.
    pub fn closed(&self) -> impl Iterator<Item = (CloseReason, u64)> {
        self.closed.iter().zip(CloseReason::TABLE).map(|(count, (reason, _))| (reason, count.get()))
    }

    /// How many requests were refused because they could not be read.
    pub fn malformed(&self) -> u64 {
        self.malformed.get()
    }

    /// How many HTTP/2 requests were refused because too many were outstanding.
    pub fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// How many requests ended in a panic: answered 500, or broken off in the response's body.
    pub fn panics(&self) -> u64 {
        self.panics.get()
    }

    /// How many accepts have failed for lack of a resource, such as file descriptors.
    pub fn accept_failures(&self) -> u64 {
        self.accept_failures.get()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_the_reason_of_their_end() {
        let metrics = ConnectionMetrics::default();
        for (index, (reason, _)) in CloseReason::TABLE.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason}");
            metrics.accepted.add();
            metrics.closed[reason as usize].add();
        }
        metrics.accepted.add();
        assert_eq!((metrics.accepted(), metrics.open()), (13, 1));
        metrics.closed[CloseReason::Failed as usize].add();
        let closed: Vec<_> = metrics.closed().map(|(_, count)| count).collect();
        assert_eq!(closed, [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(metrics.open(), 0);
    }
}
