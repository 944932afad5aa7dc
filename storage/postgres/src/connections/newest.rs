//! [`Newest`]: the log that the primary was last found to write.

use std::sync::{Arc, Mutex, PoisonError};

use super::lag::Log;

/// Shared by all sessions of a storage.
#[derive(Clone, Default)]
pub(crate) struct Newest(Arc<Mutex<Option<Log>>>);

impl Newest {
    /// Whether a server that writes this log may have been left by a failover: its timeline is lower, or nothing is known yet.
    /// Timelines of different databases say nothing.
    pub(crate) fn may_be_after(&self, log: Log) -> bool {
        let newest = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        newest.is_none_or(|newest| log.is_before(newest))
    }

    pub(crate) fn note(&self, log: Log) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(log);
    }
}
