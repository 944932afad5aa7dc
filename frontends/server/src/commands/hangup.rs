//! SIGHUP: what is read again while a server runs.

use std::future::pending;

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

use crate::exit::Failure;
use crate::logging::Logs;

/// SIGHUP, which from now on ends nothing.
#[cfg(unix)]
pub(super) struct Hangup(unix::Signal);

#[cfg(unix)]
impl Hangup {
    pub(super) fn catch() -> Result<Self, Failure> {
        let caught = unix::signal(SignalKind::hangup());
        caught.map(Self).map_err(|error| Failure::work(format!("cannot wait for signals: {error}")))
    }

    /// Waits for the signal.
    pub(super) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            pending::<()>().await;
        }
    }
}

/// There is no such signal.
#[cfg(not(unix))]
pub(super) struct Hangup;

#[cfg(not(unix))]
impl Hangup {
    pub(super) fn catch() -> Result<Self, Failure> {
        Ok(Self)
    }

    /// Waits for ever.
    pub(super) async fn next(&mut self) {
        pending::<()>().await;
    }
}

/// Reads what is to be logged again at each signal, for ever.
pub(super) async fn keep_log_level(mut hangup: Hangup, logs: &Logs) {
    loop {
        hangup.next().await;
        logs.reload();
    }
}
