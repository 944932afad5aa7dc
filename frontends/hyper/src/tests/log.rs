//! The log of a test's thread.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Level};

/// A buffer that collects the log as text.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures the log of this thread, down to the level `DEBUG`, until the guard is dropped.
///
/// Registers a second subscriber: with only one, the first thread to reach an event would decide for all threads whether it
/// is enabled.
pub(crate) fn capture_log() -> (Log, (Dispatch, DefaultGuard)) {
    let (log, second) = (Log::default(), Dispatch::new(NoSubscriber::default()));
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
    let guard = tracing::subscriber::set_default(subscriber.with_max_level(Level::DEBUG).finish());
    (log, (second, guard))
}
