//! Word to systemd, by the rules of `sd_notify(3)`: a datagram of lines to the socket that `NOTIFY_SOCKET` names.

use std::ffi::OsStr;
use std::fmt::Display;
use std::future::pending;
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;
#[cfg(target_os = "linux")]
use std::os::{linux::net::SocketAddrExt as _, unix::ffi::OsStrExt as _, unix::net::SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, io, process};

/// How long a datagram may wait for room in the socket.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether systemd knows that requests are answered. The end of a reload is told in the same word, and must not say it.
static SERVES: AtomicBool = AtomicBool::new(false);

/// Requests are answered from now on.
pub(crate) fn ready(status: &dyn Display) {
    SERVES.store(true, Ordering::Relaxed);
    notify(&format!("READY=1\nSTATUS={status}"));
}

/// The server has begun to end.
pub(crate) fn stopping() {
    SERVES.store(false, Ordering::Relaxed);
    notify("STOPPING=1\nSTATUS=finishing running requests");
}

/// A reload, which is over when this is dropped.
#[must_use]
pub(crate) struct Reload(());

impl Reload {
    /// Settings are read again from now on. With `Type=notify-reload`, systemd waits for its end, by the clock told.
    pub(crate) fn begin() -> Self {
        #[cfg(unix)]
        if SERVES.load(Ordering::Relaxed) {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            let microseconds = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
            notify(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}"));
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
    let Some(every) = watchdog(|name| env::var(name).ok(), process::id()) else { return pending().await };
    loop {
        notify("WATCHDOG=1");
        tokio::time::sleep(every).await;
    }
}

/// How often to give a sign of life; `None` where nobody waits for one from this process.
fn watchdog(variable: impl Fn(&str) -> Option<String>, this_process: u32) -> Option<Duration> {
    let limit: u64 = variable("WATCHDOG_USEC")?.parse().ok()?;
    let asked = variable("WATCHDOG_PID").is_none_or(|process| process.parse() == Ok(this_process));
    (asked && limit > 1).then(|| Duration::from_micros(limit / 2))
}

/// Tells systemd, if it listens. That it cannot be told ends nothing here: it will draw its own conclusions.
fn notify(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) else { return };
    if let Err(error) = send(&socket, state) {
        tracing::warn!(%error, "systemd cannot be told of this server's state");
    }
}

#[cfg(unix)]
fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let datagram = UnixDatagram::unbound()?;
    datagram.set_write_timeout(Some(PATIENCE))?;
    // Behind an @ stands a name in Linux's abstract namespace.
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.as_bytes().strip_prefix(b"@") {
        return datagram.send_to_addr(state.as_bytes(), &SocketAddr::from_abstract_name(name)?).map(drop);
    }
    datagram.send_to(state.as_bytes(), socket).map(drop)
}

/// Elsewhere there is no systemd.
#[cfg(not(unix))]
fn send(_: &OsStr, _: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn every(limit: Option<&str>, process: Option<&str>) -> Option<Duration> {
        let value = |name: &str| if name == "WATCHDOG_USEC" { limit } else { process };
        watchdog(|name| value(name).map(str::to_owned), 7)
    }

    #[test]
    fn signs_of_life_come_where_they_are_asked_for() {
        assert_eq!(every(Some("30000000"), Some("7")), Some(Duration::from_secs(15)));
        assert_eq!(every(Some("30000000"), None), Some(Duration::from_secs(15)));
        for (limit, process) in [(None, None), (Some("30000000"), Some("8")), (Some("0"), None), (Some("x"), None)] {
            assert_eq!(every(limit, process), None, "{limit:?} {process:?}");
        }
    }

    #[test]
    fn a_datagram_arrives_by_path_and_by_abstract_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap();
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"READY=1");
        assert!(send(OsStr::new("/no/such/socket"), "READY=1").is_err());
        #[cfg(target_os = "linux")]
        {
            let name = format!("catalogue-test-{}", process::id());
            let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
            send(OsStr::new(&format!("@{name}")), "STOPPING=1").unwrap();
            let length = socket.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], b"STOPPING=1");
        }
    }
}
