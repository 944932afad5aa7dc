//! Integration with systemd, if it runs the program: readiness, reloads, watchdog pings, and an inherited socket.

use std::fmt::Display;
use std::future::pending;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Failure;

/// Whether startup has finished and the server is not stopping. Only then do reloads send `RELOADING=1` and `READY=1`.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Reports that requests are served from now on.
pub(crate) fn ready(status: &dyn Display) {
    IS_READY.store(true, Ordering::Relaxed);
    notify(&format!("READY=1\nSTATUS={status}"));
}

/// Reports that the server has begun to stop.
pub(crate) fn stopping() {
    IS_READY.store(false, Ordering::Relaxed);
    notify("STOPPING=1\nSTATUS=finishing running requests");
}

/// A reload in progress. Dropping it reports its end.
#[must_use]
pub(crate) struct Reload(());

impl Reload {
    /// Reports that a reload begins. `Type=notify-reload` requires the time, and makes systemd wait for the end.
    pub(crate) fn begin() -> Self {
        #[cfg(unix)]
        if let Ok(now) = sd_notify::NotifyState::monotonic_usec_now()
            && IS_READY.load(Ordering::Relaxed)
        {
            notify(&format!("RELOADING=1\n{now}"));
        }
        Self(())
    }
}

impl Drop for Reload {
    fn drop(&mut self) {
        if IS_READY.load(Ordering::Relaxed) {
            notify("READY=1");
        }
    }
}

/// Sends watchdog pings at half of systemd's interval, if the watchdog is on. Never returns.
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

/// Sends `state` to systemd, if it runs the program. A failure is only logged: systemd has timeouts for missing messages.
fn notify(state: &str) {
    #[cfg(unix)]
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Custom(state)]) {
        tracing::warn!(%error, "cannot notify systemd");
    }
    #[cfg(not(unix))]
    let _ = state;
}

/// Returns the socket that systemd opened for this process, if any (`sd_listen_fds(3)`): clients stay in its queue
/// while the server restarts. Call it once, before the runtime starts threads: it removes variables from the environment.
#[cfg(unix)]
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    const HINT: &str = "use one ListenStream= with an IP address and a port in the socket unit";
    let mut sockets = listenfd::ListenFd::from_env();
    match sockets.len() {
        0 => Ok(None),
        1 => sockets
            .take_tcp_listener(0)
            .map_err(|error| Failure::usage(format!("cannot serve the socket of LISTEN_FDS: {error}; {HINT}"))),
        number => Err(Failure::usage(format!("LISTEN_FDS has {number} sockets instead of one; {HINT}"))),
    }
}

/// Returns `None`: other systems do not have systemd.
#[cfg(not(unix))]
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    Ok(None)
}
