//! SIGHUP: what is read again while a server runs.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use tokio::runtime::Builder;
#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

use crate::exit::Failure;
use crate::http::{self, Tls};
use crate::logging::Logs;
use crate::systemd;

/// How often the certificate's files are looked at, also without a signal.
const RENEWAL: Duration = Duration::from_secs(60);

/// SIGHUP, which from now on ends nothing.
#[cfg(unix)]
pub(super) struct Hangup(unix::Signal);

#[cfg(unix)]
impl Hangup {
    pub(super) fn catch() -> Result<Self, Failure> {
        let caught = unix::signal(SignalKind::hangup());
        caught.map(Self).map_err(|error| Failure::work(format!("cannot wait for signals: {error}")))
    }

    /// From now on the signal does not end the process. One that comes before there is a [`Hangup`] may be forgotten: what
    /// it asks for is yet to be read.
    pub(super) fn forget_early_ones() -> Result<(), Failure> {
        // Of a signal that was once caught, tokio keeps the handler, also beyond the runtime.
        let runtime = super::runtime(Builder::new_current_thread().enable_io().build())?;
        let _inside = runtime.enter();
        Self::catch().map(drop)
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

    pub(super) fn forget_early_ones() -> Result<(), Failure> {
        Ok(())
    }

    /// Waits for ever.
    pub(super) async fn next(&mut self) {
        pending::<()>().await;
    }
}

/// Reads again at each signal what is to be logged, and the certificate where there is one, for ever.
pub(super) async fn keep_reloading(mut hangup: Hangup, logs: &Logs, tls: Option<Arc<Tls>>) {
    let mut asked = async || {
        hangup.next().await;
        let reload = systemd::Reload::begin();
        logs.reload();
        reload
    };
    match tls {
        Some(tls) => http::keep_renewed(tls, RENEWAL, asked).await,
        None => loop {
            drop(asked().await);
        },
    }
}
