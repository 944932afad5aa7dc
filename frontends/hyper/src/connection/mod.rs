//! A connection, from its accept to its end.

mod data_rate;
mod io;
mod plain_http;
mod socket;
mod state;
mod timer;

use std::fmt::Display;
use std::sync::Arc;

use socket2::SockRef;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

pub(crate) use data_rate::DataRate;
pub(crate) use io::TrackedIo;
pub(crate) use socket::{Socket, Transport};
pub(crate) use state::{Activity, ConnectionState};
use timer::ConnectionTimer;

use crate::close_reason::Interrupt;
use crate::http2::{self, Http2State};
use crate::overload::{OutstandingStreams, Permit};
use crate::request::client_address::Peer;
use crate::service::TowerService;
use crate::tls::HTTP_2;
use crate::{CloseReason, ServerConfig, http1};

/// What all connections of a listener share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) streams: Arc<OutstandingStreams>,
}

/// A client that was just accepted, and the permit for its connection.
pub(crate) struct Accepted {
    pub(crate) tcp: TcpStream,
    pub(crate) peer: Peer,
    pub(crate) permit: Permit,
}

/// What goes with a connection from its accept to its end, and counts it as open.
pub(crate) struct Context {
    pub(crate) state: Arc<ConnectionState>,
    pub(crate) timer: ConnectionTimer,
    /// Why it has ended. Where nobody says so, its task was cut off, and it counts as failed.
    reason: CloseReason,
    /// Free for another connection when this one has ended.
    _permit: Permit,
}

impl Context {
    fn new(accepted: Accepted, shared: Shared) -> (Self, Socket) {
        let Accepted { tcp, peer, permit } = accepted;
        let options = SockRef::from(&tcp);
        if let Err(error) = options.set_tcp_nodelay(true) {
            tracing::debug!(peer = %peer.address, %error, "cannot switch off the delay of small packets");
        }
        // The kernel ends a connection whose peer acknowledges nothing, also after our side was closed.
        #[cfg(target_os = "linux")]
        if let Err(error) = options.set_tcp_user_timeout(Some(shared.config.timeouts.stall)) {
            tracing::debug!(peer = %peer.address, %error, "cannot set the timeout of unacknowledged data");
        }
        let state = ConnectionState::new(peer, shared.config);
        permit.register(&state);
        let timer = ConnectionTimer::new(state.clone());
        state.config.metrics.accepted.add();
        let socket = Socket::new(tcp, state.clone());
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
}

impl Drop for Context {
    fn drop(&mut self) {
        self.state.config.metrics.closed[self.reason as usize].add();
    }
}

/// Serves HTTP/1 until one of the sides closes the connection, or the timer does.
pub(crate) async fn serve_cleartext<S: TowerService>(accepted: Accepted, shared: Shared, service: S) {
    let (context, socket) = Context::new(accepted, shared);
    http1::serve(socket, context, service).await;
}

/// Shakes hands, and serves the protocol that the client has chosen.
pub(crate) async fn serve_tls<S: TowerService>(accepted: Accepted, shared: Shared, tls: TlsAcceptor, service: S) {
    let streams = shared.streams.clone();
    let (mut context, mut socket) = Context::new(accepted, shared);
    if plain_http::refuse(&mut context, &mut socket).await {
        return;
    }
    // In a box, for it is large and soon over.
    let mut handshake = Box::pin(tls.accept(socket));
    let outcome = context.timer.run(|cx| handshake.as_mut().poll(cx)).await;
    drop(handshake);
    let transport = match outcome {
        Ok(Ok(stream)) => stream,
        other => return context.end(&other, |_| CloseReason::HandshakeFailed),
    };
    if transport.get_ref().1.alpn_protocol() == Some(HTTP_2) {
        context.state.lock().end_handshake(Some(Http2State::new(streams)));
        http2::serve(transport, context, service).await;
    } else {
        context.state.lock().end_handshake(None);
        http1::serve(transport, context, service).await;
    }
}
