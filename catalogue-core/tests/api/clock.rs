//! A clock for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use catalogue_core::limit::{LocalRateLimiter, RateLimit};

/// A clock that only tests advance. Clones show the same time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    began: Instant,
    milliseconds: Arc<AtomicU64>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), milliseconds: Arc::default() }
    }

    pub(crate) fn advance(&self, milliseconds: u64) {
        self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Returns the milliseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    /// Returns a rate limiter on this clock.
    pub(crate) fn limiter(&self, requests: u32, seconds: u64) -> LocalRateLimiter {
        let limit = RateLimit::new(requests, Duration::from_secs(seconds)).unwrap();
        let clock = self.clone();
        LocalRateLimiter::with_clock(limit, move || clock.began + Duration::from_millis(clock.now()))
    }
}
