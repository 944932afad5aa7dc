//! HTTP/2: hyper's connection, within the limits of h2 and the limit of requests on all connections.

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

/// Serves HTTP/2 until either side closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    let io = TokioIo::new(TrackedIo { transport, state: state.clone() });
    let request_state = state.clone();
    let exchange = move |request: Request<Incoming>| {
        let stream = request_state.registry.stream();
        let response = stream.map(|stream| respond(&service, request, &request_state, Some(stream)));
        if response.is_none() {
            request_state.registry.config.metrics.refused.add();
        }
        // Boxed: hyper keeps room for this large future until the client has the response, but the future ends earlier.
        Box::pin(async move {
            match response {
                Some(response) => Ok(response.await),
                // The client may retry (RFC 9113, 8.7). Unlike a reset, a response might have to wait for the client's window.
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
            // The next poll sends `GOAWAY`: a request that is already in flight is still served.
            Err(CloseReason::Idle) => is_idle = true,
            outcome => break outcome,
        }
    };
    open.end(&outcome, CloseReason::Failed);
}

/// Returns hyper's builder without keep-alive pings: timeouts end the connection of a dead client.
fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        // The protocol's default: a smaller window applies only once the client has acknowledged it.
        .initial_stream_window_size(64 * 1024 - 1)
        .initial_connection_window_size(1024 * 1024)
        // Bounds "rapid reset", but lets a client cancel all its requests at the same time.
        .max_pending_accept_reset_streams(100)
        .max_send_buf_size(16 * 1024);
    builder
}
