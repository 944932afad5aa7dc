//! [`ConnectionMetrics`]: counters of connections.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::CloseReason;

/// Counters of a listener's connections, and of errors on them, since its start.
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
    /// Returns how many connections were accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.get()
    }

    /// Returns how many connections are open.
    pub fn open(&self) -> u64 {
        self.accepted().saturating_sub(self.closed().map(|(_, count)| count).sum())
    }

    /// Returns how many connections have ended, by reason.
    pub fn closed(&self) -> impl Iterator<Item = (CloseReason, u64)> {
        self.closed.iter().zip(CloseReason::TABLE).map(|(count, (reason, _))| (reason, count.get()))
    }

    /// Returns how many requests were refused because they were malformed or, on HTTP/1, their heads too large.
    pub fn malformed(&self) -> u64 {
        self.malformed.get()
    }

    /// Returns how many HTTP/2 requests were refused because too many were outstanding.
    pub fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// Returns how many requests ended in a panic, with a 500 or in the middle of the response's body.
    pub fn panics(&self) -> u64 {
        self.panics.get()
    }

    /// Returns how many accepts failed, for example for lack of file descriptors. Errors of single clients do not count.
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
    fn closed_connections_are_counted_by_reason() {
        let metrics = ConnectionMetrics::default();
        for (index, (reason, _)) in CloseReason::TABLE.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason}");
            metrics.accepted.add();
            metrics.closed[reason as usize].add();
        }
        metrics.accepted.add();
        assert_eq!((metrics.accepted(), metrics.open()), (12, 1));
        metrics.closed[CloseReason::Failed as usize].add();
        let closed: Vec<_> = metrics.closed().map(|(_, count)| count).collect();
        assert_eq!(closed, [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(metrics.open(), 0);
    }
}
