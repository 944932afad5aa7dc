//! What systemd asks of a service: messages about readiness and reloads, a sign of life, and a socket taken over. Without
//! systemd nothing of it happens.

use std::fmt::Display;
use std::future::pending;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Failure;

/// Whether systemd knows that requests are answered. The end of a reload is the same message, and must not say it.
static SERVES: AtomicBool = AtomicBool::new(false);

/// Reports that requests are answered from now on.
pub(crate) fn ready(status: &dyn Display) {
    SERVES.store(true, Ordering::Relaxed);
    notify(&format!("READY=1\nSTATUS={status}"));
}

/// Reports that the server has begun to end.
pub(crate) fn stopping() {
    SERVES.store(false, Ordering::Relaxed);
    notify("STOPPING=1\nSTATUS=finishing running requests");
}

/// A reload, which is over when this is dropped.
#[must_use]
pub(crate) struct Reload(());

impl Reload {
    /// Reports that settings are read again. With `Type=notify-reload`, systemd waits for the end, by the time given.
    pub(crate) fn begin() -> Self {
        #[cfg(unix)]
        if let Ok(now) = sd_notify::NotifyState::monotonic_usec_now()
            && SERVES.load(Ordering::Relaxed)
        {
            notify(&format!("RELOADING=1\n{now}"));
        }
        Self(())
    }
}

impl Drop for Reload {
    fn drop(&mut self) {
        if SERVES.load(Ordering::Relaxed) {
            notify("READY=1");
        }
    }
}

/// Gives signs of life for ever, twice as often as systemd asks for them, if it does.
pub(crate) async fn keep_alive() {
    #[cfg(unix)]
    if let Some(limit) = sd_notify::watchdog_enabled().filter(|limit| !limit.is_zero()) {
        loop {
            notify("WATCHDOG=1");
            tokio::time::sleep(limit / 2).await;
        }
    }
    pending::<()>().await;
}

/// Sends `state` to systemd, if it listens. A failure ends nothing here: systemd will draw its own conclusions.
fn notify(state: &str) {
    #[cfg(unix)]
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Custom(state)]) {
        tracing::warn!(%error, "systemd cannot be told of this server's state");
    }
    #[cfg(not(unix))]
    let _ = state;
}

/// Returns the socket that systemd has opened for this process, if it has (`sd_listen_fds(3)`): clients stay in its queue while
/// the server is started anew. To be called once, before there are other threads.
#[cfg(unix)]
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    const RIGHT: &str = "write one ListenStream= with an IP address and a port into the socket unit";
    let mut sockets = listenfd::ListenFd::from_env();
    match sockets.len() {
        0 => Ok(None),
        1 => sockets
            .take_tcp_listener(0)
            .map_err(|error| Failure::usage(format!("the socket of LISTEN_FDS cannot be served: {error}; {RIGHT}"))),
        number => Err(Failure::usage(format!("LISTEN_FDS has {number} sockets and one is served; {RIGHT}"))),
    }
}

/// Returns `None`: there is no systemd elsewhere.
#[cfg(not(unix))]
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    Ok(None)
}
