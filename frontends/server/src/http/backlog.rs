//! [`Backlog`]: the requests of HTTP/2 that are not answered to the last byte, on all connections together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use super::Limits;

/// How many there are, and how long an answer may wait for its client while there are so many.
///
/// With HTTP/1 a connection has one answer at most that its client does not take. With HTTP/2 it has as many as there
/// may be streams, and a client that opens no window lets them wait at no cost of its own. So they are counted, and
/// where there are many, those connections give way whose answers have waited longest.
#[derive(Debug)]
pub(super) struct Backlog {
    requests: AtomicU32,
    most: u32,
    yield_time: Duration,
    grown: Notify,
}

/// A request in the backlog, until this is dropped.
#[derive(Debug)]
pub(super) struct Entry(Arc<Backlog>);

impl Backlog {
    /// Empty.
    pub(super) fn new(limits: &Limits) -> Self {
        let (most, yield_time) = (limits.unanswered, limits.yield_time);
        Self { requests: AtomicU32::new(0), most, yield_time, grown: Notify::new() }
    }

    /// A request has come.
    pub(super) fn enter(self: &Arc<Self>) -> Entry {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= self.half() {
            self.grown.notify_one();
        }
        Entry(self.clone())
    }

    /// Resolves when there are more than half as many requests as there may be.
    pub(super) async fn grown(&self) {
        while self.excess() == 0 {
            self.grown.notified().await;
        }
    }

    /// How many are beyond that half.
    pub(super) fn excess(&self) -> u32 {
        self.requests.load(Ordering::Relaxed).saturating_sub(self.half())
    }

    /// Whether there are more than there may be: those that come then are refused, since they would take memory while
    /// they wait for their turn.
    pub(super) fn is_full(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > self.most
    }

    /// How long an answer may wait for its client now: the time after which idle connections give way too, and ever less
    /// the nearer the bound is.
    pub(super) fn patience(&self) -> Duration {
        let room = self.most.saturating_sub(self.half());
        let free = room.saturating_sub(self.excess());
        self.yield_time * free / room.max(1)
    }

    fn half(&self) -> u32 {
        self.most / 2
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_at_the_bound() {
        let second = Duration::from_secs(1);
        let backlog = Arc::new(Backlog::new(&Limits { unanswered: 8, yield_time: second, ..Limits::default() }));
        let mut entries = Vec::new();
        for (excess, patience) in
            [(0, second), (0, second), (0, second), (0, second), (1, second * 3 / 4), (2, second / 2)]
        {
            entries.push(backlog.enter());
            assert_eq!((backlog.excess(), backlog.patience()), (excess, patience), "{}", entries.len());
        }
        entries.extend((0..10).map(|_| backlog.enter()));
        assert_eq!((backlog.excess(), backlog.patience()), (12, Duration::ZERO));
        assert!(backlog.is_full());
        entries.truncate(8);
        assert!(!backlog.is_full());
        entries.clear();
        assert_eq!((backlog.excess(), backlog.patience()), (0, second));
    }

    #[tokio::test]
    async fn whoever_waits_for_its_growth_is_woken() {
        let backlog = Arc::new(Backlog::new(&Limits { unanswered: 2, ..Limits::default() }));
        let grown = tokio::spawn({
            let backlog = backlog.clone();
            async move { backlog.grown().await }
        });
        let _first = backlog.enter();
        tokio::task::yield_now().await;
        assert!(!grown.is_finished());
        let _second = backlog.enter();
        grown.await.unwrap();
    }
}
