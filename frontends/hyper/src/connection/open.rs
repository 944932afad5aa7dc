//! [`OpenConnection`]: what goes with a connection from its accept to its end, and counts it as open.

use std::fmt::Display;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use socket2::SockRef;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{ConnectionState, ConnectionTimer, Shutdown, Socket};
use crate::close_reason::Interrupt;
use crate::overload::{OutstandingStreams, Permit};
use crate::request::Peer;
use crate::{CloseReason, ServerConfig};

/// What all connections of a listener share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) streams: Arc<OutstandingStreams>,
    pub(crate) shutdown: Arc<Shutdown>,
}

pub(crate) type Accepted = (TcpStream, SocketAddr);

pub(crate) struct OpenConnection {
    pub(crate) state: Arc<ConnectionState>,
    pub(crate) timer: ConnectionTimer,
    /// Why it has ended. Where nobody says so, its task was cut off, and it counts as failed.
    reason: CloseReason,
    /// Free for another connection when this one has ended.
    _permit: Permit,
}

impl OpenConnection {
    pub(super) fn new(shared: Shared, (tcp, address): Accepted, permit: Permit) -> (Self, Socket) {
        let peer = Peer { address, is_tls: shared.config.tls.is_some() };
        let options = SockRef::from(&tcp);
        let set = options.set_tcp_nodelay(true);
        // The kernel ends a connection whose peer acknowledges nothing, also after our side was closed.
        #[cfg(target_os = "linux")]
        let set = set.and(options.set_tcp_user_timeout(Some(shared.config.timeouts.stall)));
        if let Err(error) = set {
            tracing::debug!(peer = %peer.address, %error, "cannot set the options of a socket");
        }
        let state = ConnectionState::new(peer, shared.config, shared.shutdown);
        permit.register(&state);
        state.config.metrics.accepted.add();
        let socket = Socket { tcp, awaits_handshake: peer.is_tls, state: state.clone() };
        let timer = ConnectionTimer::new(state.clone());
        (Self { state, timer, reason: CloseReason::Failed, _permit: permit }, socket)
    }

    /// It has ended so, with `failure` as the reason of an error.
    pub(crate) fn end<T, E: Display>(
        &mut self,
        outcome: &Result<Result<T, E>, Interrupt>,
        failure: impl FnOnce(&E) -> CloseReason,
    ) {
        let peer = self.state.peer.address;
        match outcome {
            Ok(Ok(_)) => self.reason = CloseReason::Closed,
            Ok(Err(error)) => {
                self.reason = failure(error);
                tracing::debug!(%peer, %error, reason = %self.reason, "a connection failed");
            }
            Err(interrupt) => {
                if let Interrupt::Close(reason) = interrupt {
                    self.reason = *reason;
                }
                tracing::debug!(%peer, reason = %self.reason, "closed a connection");
            }
        }
    }

    /// Writes these last bytes and closes our side, as far as the timer allows.
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
        self.state.config.metrics.closed[self.reason as usize].add();
    }
}
