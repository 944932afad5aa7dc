//! [`OpenConnection`]: state, timer and end of a connection, which counts as open while this exists.

use std::fmt::Display;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use socket2::SockRef;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{ConnectionState, ConnectionTimer, Socket};
use crate::CloseReason;
use crate::registry::Registry;
use crate::request::Peer;

pub(crate) type Accepted = (TcpStream, SocketAddr);

pub(crate) struct OpenConnection {
    pub(crate) state: Arc<ConnectionState>,
    pub(crate) timer: ConnectionTimer,
    id: u64,
    /// Why the connection ended. Until that is known, `Failed`, which remains if the task is aborted or panics.
    reason: CloseReason,
}

impl OpenConnection {
    pub(super) fn new(registry: Arc<Registry>, (tcp, address): Accepted) -> (Self, Socket) {
        let peer = Peer { address, is_tls: registry.config.tls.is_some() };
        let options = SockRef::from(&tcp);
        let set = options.set_tcp_nodelay(true);
        // The kernel ends a connection whose peer acknowledges nothing, even after the server has closed its side.
        #[cfg(target_os = "linux")]
        let set = set.and(options.set_tcp_user_timeout(Some(registry.config.timeouts.stall)));
        if let Err(error) = set {
            tracing::debug!(peer = %peer.address, %error, "cannot set socket options");
        }
        let state = ConnectionState::new(peer, registry);
        let id = state.registry.add(&state);
        state.registry.config.metrics.accepted.add();
        let timer = ConnectionTimer::new(state.clone());
        (Self { state: state.clone(), timer, id, reason: CloseReason::Failed }, Socket::new(tcp, state))
    }

    /// Records how the connection ended; `failure` is the reason in case of an error.
    pub(crate) fn end<T, E: Display>(&mut self, outcome: &Result<Result<T, E>, CloseReason>, failure: CloseReason) {
        let peer = self.state.peer.address;
        match outcome {
            Ok(Ok(_)) => self.reason = CloseReason::Closed,
            Ok(Err(error)) => {
                self.reason = failure;
                tracing::debug!(%peer, %error, reason = %self.reason, "a connection failed");
            }
            Err(reason) => {
                self.reason = *reason;
                tracing::debug!(%peer, %reason, "closed a connection");
            }
        }
    }

    /// Writes the `last` bytes, closes the server's side and waits for the client's close, until the connection's deadline.
    pub(crate) async fn close(&mut self, io: &mut (impl AsyncWrite + Unpin), last: &[u8]) {
        let mut closing = pin!(async {
            io.write_all(last).await?;
            io.shutdown().await
        });
        let _ = self.timer.run(|cx| closing.as_mut().poll(cx)).await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.state.registry.remove(self.id);
        self.state.registry.config.metrics.closed[self.reason as usize].add();
    }
}
