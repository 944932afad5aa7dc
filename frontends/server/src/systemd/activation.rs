//! Socket activation, by the rules of `sd_listen_fds(3)`: systemd has opened the socket, and keeps clients in its queue
//! while the server is started anew.

use std::net::TcpListener;

use listenfd::ListenFd;

use crate::exit::Failure;

/// The socket that systemd has opened for this process, if it has. To be called once, before there are other threads.
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    const RIGHT: &str = "write one ListenStream= with an IP address and a port into the socket unit";
    let mut sockets = ListenFd::from_env();
    match sockets.len() {
        0 => Ok(None),
        1 => sockets
            .take_tcp_listener(0)
            .map_err(|error| Failure::usage(format!("the socket of LISTEN_FDS cannot be served: {error}; {RIGHT}"))),
        number => Err(Failure::usage(format!("LISTEN_FDS has {number} sockets and one is served; {RIGHT}"))),
    }
}
