//! A connection, from its accept to its end.

mod data_rate;
mod io;
mod open;
mod plain_http;
mod shutdown;
mod socket;
mod state;
mod timer;

use tokio_rustls::TlsAcceptor;

pub(crate) use data_rate::DataRate;
pub(crate) use io::TrackedIo;
pub(crate) use open::{Accepted, OpenConnection, Shared};
pub(crate) use shutdown::Shutdown;
pub(crate) use socket::{Socket, Transport};
pub(crate) use state::{Activity, ConnectionState};
use timer::ConnectionTimer;

use crate::http2::{self, Http2State};
use crate::overload::Permit;
use crate::service::TowerService;
use crate::tls::HTTP_2;
use crate::{CloseReason, http1};

pub(crate) async fn serve_cleartext<S: TowerService>(shared: Shared, client: Accepted, permit: Permit, service: S) {
    let (open, socket) = OpenConnection::new(shared, client, permit);
    http1::serve(socket, open, service).await;
}

/// Shakes hands, and serves the protocol that the client has chosen.
pub(crate) async fn serve_tls<S: TowerService>(
    shared: Shared,
    client: Accepted,
    permit: Permit,
    service: S,
    tls: TlsAcceptor,
) {
    let streams = shared.streams.clone();
    let (mut open, mut socket) = OpenConnection::new(shared, client, permit);
    if plain_http::refuse(&mut open, &mut socket).await {
        return;
    }
    // In a box, for it is large and soon over.
    let mut handshake = Box::pin(tls.accept(socket));
    let outcome = open.timer.run(|cx| handshake.as_mut().poll(cx)).await;
    drop(handshake);
    let transport = match outcome {
        Ok(Ok(stream)) => stream,
        other => return open.end(&other, |_| CloseReason::HandshakeFailed),
    };
    if transport.get_ref().1.alpn_protocol() == Some(HTTP_2) {
        open.state.lock().end_handshake(Some(Http2State::new(streams)));
        http2::serve(transport, open, service).await;
    } else {
        open.state.lock().end_handshake(None);
        http1::serve(transport, open, service).await;
    }
}
