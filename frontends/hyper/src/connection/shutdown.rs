//! [`Shutdown`]: whether the server stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// What all connections of a listener know of its end. From then on a connection ends as soon as it has nothing to do.
#[derive(Default)]
pub(crate) struct Shutdown {
    /// Apart from the time, because every flush asks.
    has_begun: AtomicBool,
    end_of_grace: Mutex<Option<Instant>>,
}

impl Shutdown {
    /// The server stops; a later call may bring the end of the grace forward.
    pub(crate) fn begin(&self, end_of_grace: Instant) {
        *self.end_of_grace.lock().unwrap_or_else(PoisonError::into_inner) = Some(end_of_grace);
        self.has_begun.store(true, Ordering::Release);
    }

    /// When the grace ends, if the server stops.
    pub(crate) fn end_of_grace(&self) -> Option<Instant> {
        if !self.has_begun() {
            return None;
        }
        *self.end_of_grace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }
}
