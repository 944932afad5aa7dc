//! HTTP/2: hyper's connection, within the limits of h2 and the requests that all connections may have.

use std::pin::Pin;

use h2::Reason;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::connection::{OpenConnection, TrackedIo, Transport};
use crate::service::{TowerService, respond};
use crate::{CloseReason, Limits};

/// Serves HTTP/2 until one of the sides closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    let io = TokioIo::new(TrackedIo { transport, state: state.clone() });
    let of_requests = state.clone();
    let exchange = move |request: Request<Incoming>| {
        let stream = of_requests.registry.stream();
        let response = stream.map(|stream| respond(&service, request, &of_requests, Some(stream)));
        if response.is_none() {
            of_requests.registry.config.metrics.refused.add();
        }
        // In a box, for it is large and soon over, while hyper keeps what it has until the client has taken the response.
        Box::pin(async move {
            match response {
                Some(response) => Ok(response.await),
                // Nothing was done, so the client may ask again (RFC 9113, 8.7); a response could have to wait too.
                None => Err(h2::Error::from(Reason::REFUSED_STREAM)),
            }
        })
    };
    let mut connection = builder(&state.registry.config.limits).serve_connection(io, service_fn(exchange));

    let mut is_idle = false;
    let outcome = loop {
        let outcome = open.timer.run(|cx| {
            if (is_idle || state.registry.stopping().is_some()) && state.lock().go_away() {
                Pin::new(&mut connection).graceful_shutdown();
            }
            Pin::new(&mut connection).poll(cx)
        });
        match outcome.await {
            // A request may be on its way: the client is told that it is the last, and has its time to send it.
            Err(CloseReason::Idle) => is_idle = true,
            outcome => break outcome,
        }
    };
    open.end(&outcome, CloseReason::Failed);
}

/// hyper without pings of its own: a client that is gone is noticed by what it does not send, take or acknowledge.
fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        // The smallest window that needs no agreement.
        .initial_stream_window_size(64 * 1024 - 1)
        .initial_connection_window_size(1024 * 1024)
        // "Rapid reset": a client may give up all that it has asked for at once.
        .max_pending_accept_reset_streams(100)
        .max_send_buf_size(16 * 1024);
    builder
}
