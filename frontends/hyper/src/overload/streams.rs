//! [`OutstandingStreams`]: the HTTP/2 requests of all connections that are not answered to the last byte.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::Notify;

/// What a connection may have however many connections there are: a web page asks for so much at once.
const LEAST_SHARE: u32 = 8;

/// Which part of the limit is kept, beyond it, for connections that have less than that.
const RESERVE: u32 = 8;

/// Counts them against a limit, since a client of HTTP/2 that opens no window makes many responses wait at no cost.
#[derive(Debug)]
pub(crate) struct OutstandingStreams {
    streams: AtomicU32,
    /// Connections that have any.
    holders: AtomicU32,
    limit: u32,
    grown: Notify,
}

impl OutstandingStreams {
    pub(crate) fn new(limit: u32) -> Self {
        Self { streams: 0.into(), holders: 0.into(), limit, grown: Notify::new() }
    }

    /// Counts another one of a connection that has `held` of them, unless there are too many.
    pub(crate) fn try_add(&self, held: usize) -> bool {
        let reserve = if held < LEAST_SHARE as usize { self.limit / RESERVE } else { 0 };
        if self.streams.load(Relaxed) >= self.limit.saturating_add(reserve) {
            return false;
        }
        self.streams.fetch_add(1, Relaxed);
        if held == 0 {
            self.holders.fetch_add(1, Relaxed);
        }
        if self.excess() > 0 {
            self.grown.notify_one();
        }
        true
    }

    /// One of a connection that has `held` others is over.
    pub(crate) fn remove(&self, held: usize) {
        self.streams.fetch_sub(1, Relaxed);
        if held == 0 {
            self.holders.fetch_sub(1, Relaxed);
        }
    }

    /// Resolves when there are more than half as many as there may be.
    pub(super) async fn pressure(&self) {
        while self.excess() == 0 {
            self.grown.notified().await;
        }
    }

    pub(super) fn excess(&self) -> u32 {
        self.streams.load(Relaxed).saturating_sub(self.limit / 2)
    }

    /// How many of `held` are beyond what each connection could have if all that have any had the same.
    pub(super) fn beyond_share(&self, held: usize) -> u32 {
        let share = (self.limit / self.holders.load(Relaxed).max(1)).max(LEAST_SHARE);
        u32::try_from(held).unwrap_or(u32::MAX).saturating_sub(share)
    }

    /// How long the `held` responses of a connection may wait for its client: beyond its share less, the nearer the limit is.
    pub(super) fn patience(&self, held: usize, most: Duration) -> Duration {
        if self.beyond_share(held) == 0 {
            return most;
        }
        let room = self.limit - self.limit / 2;
        most * room.saturating_sub(self.excess()) / room.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn patience_beyond_the_share_ends_at_the_limit() {
        let streams = OutstandingStreams::new(16);
        for held in 0..8 {
            assert!(streams.try_add(held));
            assert_eq!((streams.excess(), streams.patience(held + 1, SECOND)), (0, SECOND));
        }
        assert!(streams.try_add(0));
        assert_eq!((streams.beyond_share(8), streams.beyond_share(9)), (0, 1));
        for (excess, patience) in [(1, SECOND * 7 / 8), (2, SECOND * 3 / 4), (3, SECOND * 5 / 8)] {
            assert_eq!((streams.excess(), streams.patience(9, SECOND)), (excess, patience));
            assert_eq!(streams.patience(8, SECOND), SECOND);
            assert!(streams.try_add(1));
        }
        while streams.try_add(20) {}
        assert_eq!((streams.excess(), streams.patience(9, SECOND)), (8, Duration::ZERO));
    }

    #[test]
    fn connections_within_their_share_have_a_reserve() {
        let streams = OutstandingStreams::new(16);
        let refused_at = |held: usize| (0..100).find(|_| !streams.try_add(held));
        assert_eq!(refused_at(20), Some(16));
        assert_eq!(refused_at(1), Some(2));
        assert!(!streams.try_add(0));
        streams.remove(1);
        assert!(!streams.try_add(20));
        assert!(streams.try_add(1));
    }

    #[test]
    fn a_share_is_that_of_the_connections_that_have_any() {
        let streams = OutstandingStreams::new(64);
        for (holders, share) in [(1, 64), (2, 32), (3, 21), (4, 16), (5, 12), (6, 10), (7, 9), (8, 8), (9, 8)] {
            assert!(streams.try_add(0));
            assert_eq!(streams.beyond_share(100), 100 - share, "{holders}");
        }
        streams.remove(1);
        assert_eq!(streams.beyond_share(100), 92);
        (0..7).for_each(|_| streams.remove(0));
        assert_eq!(streams.beyond_share(100), 68);
    }
}
