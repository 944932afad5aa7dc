//! [`Shutdown`]: whether the server stops.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use tokio::time::Instant;

/// What all connections of a listener know of its end. From then on a connection ends as soon as it has nothing to do.
#[derive(Default)]
pub(crate) struct Shutdown {
    end_of_grace: OnceLock<Instant>,
    brought_forward: OnceLock<Instant>,
    /// Whether the log has a warning about a trusted proxy that reports no client.
    pub(crate) warned_of_proxy: AtomicBool,
}

impl Shutdown {
    /// The server stops; the second call brings the end of the grace forward.
    pub(crate) fn begin(&self, end_of_grace: Instant) {
        if self.end_of_grace.set(end_of_grace).is_err() {
            self.brought_forward.get_or_init(|| end_of_grace);
        }
    }

    pub(crate) fn end_of_grace(&self) -> Option<Instant> {
        self.brought_forward.get().or(self.end_of_grace.get()).copied()
    }
}
