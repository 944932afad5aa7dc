//! [`InFlight`]: limits concurrent requests (decision A21), requests that wait for keys (O25), and introspections (O38).

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counter of requests in flight, up to a limit.
#[derive(Debug)]
pub(crate) struct InFlight {
    limit: usize,
    count: AtomicUsize,
}

/// One request's permit; dropping it returns it.
#[derive(Debug)]
pub(crate) struct Permit<'c>(&'c AtomicUsize);

impl InFlight {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { limit, count: AtomicUsize::new(0) }
    }

    /// Returns a permit for one request, or `None` if all are taken.
    pub(crate) fn enter(&self) -> Option<Permit<'_>> {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        let permit = Permit(&self.count);
        (before < self.limit).then_some(permit)
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
