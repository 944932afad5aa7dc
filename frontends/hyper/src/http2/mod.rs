//! HTTP/2: hyper's connection with the limits that it leaves open.

mod service;
mod state;
mod stream_guard;

use std::error::Error;
use std::pin::Pin;
use std::task::Context;

use h2::Reason;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};

pub(crate) use state::Http2State;

use crate::close_reason::Interrupt;
use crate::connection::{OpenConnection, TrackedIo, Transport};
use crate::service::TowerService;
use crate::{CloseReason, Limits};

/// What a client may send of bodies that nobody reads. No client sends more unasked, so that much is waited for at the end.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// Serves HTTP/2 until one of the sides closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    state.lock().linger_at_most(CONNECTION_WINDOW.into());
    let io = TrackedIo::new(transport, state.clone());
    let service = service::new(service, state.clone());
    let mut connection = builder(&state.config.limits).serve_connection(TokioIo::new(io), service);

    let mut is_idle = false;
    let outcome = loop {
        let work = |cx: &mut Context<'_>| {
            let ends = is_idle || state.shutdown.end_of_grace().is_some();
            if ends && state.http2(Http2State::go_away) == Some(true) {
                Pin::new(&mut connection).graceful_shutdown();
            }
            Pin::new(&mut connection).poll(cx)
        };
        let outcome = open.timer.run(work).await;
        // A request may be on its way: the client is told that it is the last, and has its time to send it.
        if is_idle || !matches!(outcome, Err(Interrupt::Close(CloseReason::Idle))) {
            break outcome;
        }
        is_idle = true;
    };
    open.end(&outcome, |error| {
        let error = error.source().and_then(|source| source.downcast_ref::<h2::Error>());
        let is_limit = error.and_then(h2::Error::reason) == Some(Reason::ENHANCE_YOUR_CALM);
        if is_limit { CloseReason::TooManyFrames } else { CloseReason::Failed }
    });
}

/// hyper without pings of its own: a client that is gone is noticed by what it does not send, take or acknowledge.
fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        // The smallest window that needs no agreement.
        .initial_stream_window_size(64 * 1024 - 1)
        .initial_connection_window_size(CONNECTION_WINDOW)
        // "Rapid reset": a client may give up all that it has asked for at once.
        .max_pending_accept_reset_streams(100)
        .max_send_buf_size(16 * 1024);
    builder
}
