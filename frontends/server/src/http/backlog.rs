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

/// What a connection may hold however many there are: a page asks for so much at once.
const LEAST_SHARE: u32 = 8;

/// Which part of the bound is kept, beyond it, for connections within their share.
const RESERVE: u32 = 8;

/// How many there are, and how long an answer may wait for its client while there are so many.
///
/// With HTTP/1 a connection has one answer at most that its client does not take. With HTTP/2 it has as many as there
/// may be streams, and a client that opens no window lets them wait at no cost of its own. So they are counted, and
/// where there are many, those connections give way that hold more than their share, and those whose clients take
/// nothing.
#[derive(Debug)]
pub(super) struct Backlog {
    requests: AtomicU32,
    /// Connections that have any.
    holders: AtomicU32,
    most: u32,
    yield_time: Duration,
    grown: Notify,
}

/// What one connection has in the backlog, until this is dropped.
#[derive(Debug)]
pub(super) struct Holding {
    backlog: Arc<Backlog>,
    requests: u32,
}

impl Backlog {
    /// Empty.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            requests: AtomicU32::new(0),
            holders: AtomicU32::new(0),
            most: limits.unanswered,
            yield_time: limits.yield_time,
            grown: Notify::new(),
        }
    }

    /// Resolves when there are more than half as many requests as there may be.
    pub(super) async fn grown(&self) {
        while self.excess() == 0 {
            self.grown.notified().await;
        }
    }

    /// How many are beyond that half.
    pub(super) fn excess(&self) -> u32 {
        self.requests().saturating_sub(self.half())
    }

    /// What each connection can have where all that have any have the same.
    pub(super) fn share(&self) -> u32 {
        (self.most / self.holders.load(Ordering::Relaxed).max(1)).max(LEAST_SHARE)
    }

    /// How long the client of a connection within its share may take nothing: the time after which idle connections give
    /// way too.
    pub(super) fn patience(&self) -> Duration {
        self.yield_time
    }

    /// The same for one beyond its share: ever less, the nearer the bound is.
    pub(super) fn patience_beyond(&self) -> Duration {
        let room = self.most.saturating_sub(self.half());
        let free = room.saturating_sub(self.excess());
        self.yield_time * free / room.max(1)
    }

    fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    fn half(&self) -> u32 {
        self.most / 2
    }
}

impl Holding {
    /// Nothing yet.
    pub(super) fn new(backlog: Arc<Backlog>) -> Self {
        Self { backlog, requests: 0 }
    }

    /// So many have come.
    pub(super) fn add(&mut self, requests: u32) {
        if self.requests == 0 {
            self.backlog.holders.fetch_add(1, Ordering::Relaxed);
        }
        self.requests += requests;
        self.backlog.requests.fetch_add(requests, Ordering::Relaxed);
        if self.backlog.excess() > 0 {
            self.backlog.grown.notify_one();
        }
    }

    /// So many of them are over.
    pub(super) fn remove(&mut self, requests: u32) {
        let requests = requests.min(self.requests);
        if requests == 0 {
            return;
        }
        self.requests -= requests;
        self.backlog.requests.fetch_sub(requests, Ordering::Relaxed);
        if self.requests == 0 {
            self.backlog.holders.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How many there are.
    pub(super) fn requests(&self) -> u32 {
        self.requests
    }

    /// Whether there are more on all connections than there may be, so that those that come on this one are refused:
    /// they would take memory while they wait for their turn.
    pub(super) fn is_refused(&self) -> bool {
        let Backlog { most, .. } = *self.backlog;
        let most = if self.requests > self.backlog.share() { most } else { most + most / RESERVE };
        self.backlog.requests() > most
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.remove(self.requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of `unanswered` requests at most.
    fn backlog(unanswered: u32) -> Arc<Backlog> {
        Arc::new(Backlog::new(&Limits { unanswered, yield_time: Duration::from_secs(1), ..Limits::default() }))
    }

    #[test]
    fn patience_with_those_beyond_their_share_ends_at_the_bound() {
        let second = Duration::from_secs(1);
        let backlog = backlog(8);
        let mut holding = Holding::new(backlog.clone());
        for (excess, patience) in
            [(0, second), (0, second), (0, second), (0, second), (1, second * 3 / 4), (2, second / 2)]
        {
            holding.add(1);
            assert_eq!((backlog.excess(), backlog.patience_beyond()), (excess, patience), "{}", holding.requests());
        }
        holding.add(10);
        assert_eq!((backlog.excess(), backlog.patience_beyond()), (12, Duration::ZERO));
        assert_eq!(backlog.patience(), second);
        drop(holding);
        assert_eq!((backlog.excess(), backlog.patience_beyond()), (0, second));
    }

    #[test]
    fn a_share_is_that_of_the_connections_that_have_any() {
        let backlog = backlog(64);
        assert_eq!(backlog.share(), 64);
        let mut holdings: Vec<_> = (0..4).map(|_| Holding::new(backlog.clone())).collect();
        assert_eq!(backlog.share(), 64);
        holdings.iter_mut().for_each(|holding| holding.add(2));
        assert_eq!(backlog.share(), 16);
        holdings[0].remove(1);
        assert_eq!(backlog.share(), 16);
        holdings[0].remove(1);
        holdings.pop();
        assert_eq!(backlog.share(), 32);
        let mut many: Vec<_> = (0..100).map(|_| Holding::new(backlog.clone())).collect();
        many.iter_mut().for_each(|holding| holding.add(1));
        assert_eq!(backlog.share(), LEAST_SHARE);
    }

    #[test]
    fn those_within_their_share_have_a_reserve() {
        let backlog = backlog(64);
        let [mut greedy, mut modest, mut last] = [(); 3].map(|()| Holding::new(backlog.clone()));
        modest.add(1);
        greedy.add(63);
        assert!(!greedy.is_refused());
        last.add(1);
        assert!(greedy.is_refused());
        assert!(!modest.is_refused() && !last.is_refused());
        modest.add(7);
        assert!(!modest.is_refused());
        last.add(1);
        assert!(modest.is_refused() && last.is_refused());
        greedy.remove(10);
        assert!(!greedy.is_refused());
    }

    #[tokio::test]
    async fn whoever_waits_for_its_growth_is_woken() {
        let backlog = backlog(2);
        let grown = tokio::spawn({
            let backlog = backlog.clone();
            async move { backlog.grown().await }
        });
        let mut holding = Holding::new(backlog);
        holding.add(1);
        tokio::task::yield_now().await;
        assert!(!grown.is_finished());
        holding.add(1);
        grown.await.unwrap();
    }
}
