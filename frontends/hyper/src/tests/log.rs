//! The log of a test's thread.

use std::fs;

use tempfile::NamedTempFile;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};

/// A file that collects the log as text.
pub(crate) struct Log(NamedTempFile);

impl Log {
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.0.path()).unwrap()
    }
}

/// Captures the log of this thread, down to the level `DEBUG`, until the guard is dropped.
///
/// Registers a second subscriber: with only one, the first thread to reach an event would decide for all threads whether it
/// is enabled.
pub(crate) fn capture_log() -> (Log, (Dispatch, DefaultGuard)) {
    let (log, second) = (Log(NamedTempFile::new().unwrap()), Dispatch::new(NoSubscriber::default()));
    let subscriber = tracing_subscriber::fmt().with_writer(log.0.reopen().unwrap()).with_ansi(false);
    let guard = tracing::subscriber::set_default(subscriber.with_max_level(Level::DEBUG).finish());
    (log, (second, guard))
}
