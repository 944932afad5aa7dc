//! What becomes of connections, counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::watchdog::IDLE;

/// How connections end: what the watchdog and the loop say of it, and its name among the metrics.
const ENDS: [(&str, &str); 13] = [
    ("closed", "closed"),
    ("failed", "failed"),
    (IDLE, "idle"),
    ("gave way to another", "gave_way"),
    ("slow handshake", "slow_handshake"),
    ("handshake failed", "handshake_failed"),
    ("slow head", "slow_head"),
    ("stalled", "stalled"),
    ("too many frames", "too_many_frames"),
    ("lingering", "lingering"),
    ("unread body", "unread_body"),
    ("the server stops", "stopping"),
    ("end of the grace", "end_of_grace"),
];

/// What all further reasons are counted under.
const OTHER_END: &str = "other";

/// The connections of a listener since its start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    accepted: AtomicU64,
    ended: [AtomicU64; ENDS.len() + 1],
    malformed: AtomicU64,
    refused: AtomicU64,
    panics: AtomicU64,
    accept_failures: AtomicU64,
}

/// A connection, until this is dropped.
pub(super) struct Counted {
    counts: Arc<Counts>,
    end: &'static str,
}

impl Counts {
    /// A connection was accepted.
    pub(super) fn begin(self: &Arc<Self>) -> Counted {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Counted { counts: self.clone(), end: "failed" }
    }

    /// An accept has failed.
    pub(super) fn note_accept_failure(&self) {
        self.accept_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// A request could not be read, and was refused.
    pub(super) fn note_malformed(&self) {
        self.malformed.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was refused, as too many wait for their clients to take the answer.
    pub(super) fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The service has panicked.
    pub(super) fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were accepted.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many are open.
    pub(crate) fn open(&self) -> u64 {
        let ended: u64 = self.ended.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        self.accepted().saturating_sub(ended)
    }

    /// How many have ended, by reason.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = ENDS.iter().map(|(_, name)| *name).chain([OTHER_END]);
        names.zip(self.ended.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// How many requests could not be read, and were refused.
    pub(crate) fn malformed(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed)
    }

    /// How many requests were refused, as too many waited for their clients to take the answer.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// How many requests were answered 500 because the service panicked.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// How many accepts have failed for want of something, such as file descriptors.
    pub(crate) fn accept_failures(&self) -> u64 {
        self.accept_failures.load(Ordering::Relaxed)
    }
}

impl Counted {
    /// How it ends. Where nobody says so, its task was cut off, and it counts as failed.
    pub(super) fn ends(&mut self, end: &'static str) {
        self.end = end;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let at = ENDS.iter().position(|(end, _)| *end == self.end).unwrap_or(ENDS.len());
        self.counts.ended[at].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_by_reason_and_those_without_a_name_together() {
        let counts = Arc::new(Counts::default());
        for end in ["idle", "idle", "a reason of tomorrow"] {
            counts.begin().ends(end);
        }
        let open = counts.begin();
        assert_eq!((counts.accepted(), counts.open()), (4, 1));
        drop(open);
        let ended: Vec<_> = counts.ended().filter(|(_, count)| *count > 0).collect();
        assert_eq!(ended, [("failed", 1), ("idle", 2), ("other", 1)]);
        assert_eq!(counts.open(), 0);
    }
}
