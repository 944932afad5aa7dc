//! A connection, from its accept to its end.

mod deadline;
mod io;
mod open;
mod plain_http;
mod socket;
mod state;
mod timer;

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

pub(crate) use deadline::Idle;
pub(crate) use io::TrackedIo;
pub(crate) use open::{Accepted, OpenConnection};
pub(crate) use socket::{Socket, Transport};
pub(crate) use state::{Activity, ConnectionState, Phase, WaitsFor};
use timer::ConnectionTimer;

use crate::registry::Registry;
use crate::service::TowerService;
use crate::tls::HTTP_2;
use crate::{CloseReason, http1, http2};

pub(crate) async fn serve_cleartext<S: TowerService>(registry: Arc<Registry>, client: Accepted, service: S) {
    let (open, socket) = OpenConnection::new(registry, client);
    http1::serve(socket, open, service).await;
}

/// Completes the TLS handshake, and serves the protocol that the client has chosen.
pub(crate) async fn serve_tls<S: TowerService>(
    registry: Arc<Registry>,
    client: Accepted,
    service: S,
    tls: TlsAcceptor,
) {
    let (mut open, mut socket) = OpenConnection::new(registry, client);
    if plain_http::refuse(&mut open, &mut socket).await {
        return;
    }
    open.state.lock().begin_handshake();
    // Boxed, because it is large and ends soon.
    let mut handshake = Box::pin(tls.accept(socket));
    let outcome = open.timer.run(|cx| handshake.as_mut().poll(cx)).await;
    drop(handshake);
    let transport = match outcome {
        Ok(Ok(stream)) => stream,
        other => return open.end(&other, CloseReason::HandshakeFailed),
    };
    if transport.get_ref().1.alpn_protocol() == Some(HTTP_2) {
        open.state.lock().end_handshake(Phase::Http2);
        http2::serve(transport, open, service).await;
    } else {
        open.state.lock().end_handshake(Phase::Http1);
        http1::serve(transport, open, service).await;
    }
}
