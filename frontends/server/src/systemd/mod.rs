//! What systemd asks of a service: word of its readiness and of reloads, a sign of life, and a socket taken over. Without
//! systemd nothing of it happens.

mod notification;

use std::net::TcpListener;

use crate::exit::Failure;
pub(crate) use notification::{Reload, keep_alive, ready, stopping};

/// The socket that systemd has opened for this process, if it has (`sd_listen_fds(3)`): clients stay in its queue while the
/// server is started anew. To be called once, before there are other threads.
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

/// Elsewhere nobody has opened one.
#[cfg(not(unix))]
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    Ok(None)
}
