//! HTTP/2: hyper's connection with the bounds that it leaves open.

mod allowance;
mod frames;
mod open;
mod pace;
mod service;
mod streams;

use std::{convert::Infallible, error::Error, pin::Pin};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tower_service::Service;

pub(super) use streams::Streams;

use super::{
    Limits,
    connection::Escort,
    stream::{Transport, WatchedStream},
    watchdog::IDLE,
};

/// What a client may send of a body that nobody reads: the smallest window that needs no agreement.
const BODY_WINDOW: u32 = 64 * 1024 - 1;

/// The same for all streams of a connection. No client sends more unasked, so that much is waited for at the end.
const CONNECTION_WINDOW: u32 = 1024 * 1024;

/// Streams that a client has reset before hyper has looked at them ("rapid reset"): beyond so many at the same time the
/// connection ends. A client may give up all that it has asked for at once.
const RESET_EARLY: usize = 100;

/// How much of an answer waits for the client on each stream, beside the answer itself.
const SEND_BUFFER: usize = 64 * 1024;

/// Serves HTTP/2 until one of the sides closes the connection, or the watchdog does.
pub(super) async fn serve<T, S, B>(transport: T, escort: Escort, service: S)
where
    T: Transport + Send + 'static,
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let Escort { client, limits, activity, mut watchdog, place: _place, mut counted } = escort;
    let peer = client.peer;
    let mut stream = WatchedStream::framed(transport, activity.clone());
    stream.socket().linger_at_most(CONNECTION_WINDOW.into());
    let service = service::for_connection(service, client, limits, activity.clone());
    let mut connection = builder(&limits).serve_connection(TokioIo::new(stream), service);

    let mut leaving = false;
    loop {
        let outcome = watchdog
            .guard(|cx| {
                if !leaving && activity.is_stopping() {
                    leaving = true;
                }
                if leaving && !activity.is_leaving() {
                    activity.leave();
                    Pin::new(&mut connection).graceful_shutdown();
                }
                activity.with_streams(Streams::begin_turn);
                Pin::new(&mut connection).poll(cx)
            })
            .await;
        counted.ends(match &outcome {
            Ok(Ok(())) => "closed",
            Ok(Err(_)) => "failed",
            Err(reason) => reason,
        });
        match outcome {
            Ok(Ok(())) => return,
            Ok(Err(error)) => return tracing::debug!(%peer, %error, "a connection failed"),
            // A request may be on its way: the client is told that it is the last, and has its time to send it.
            Err(IDLE) if !leaving => leaving = true,
            Err(reason) => return tracing::debug!(%peer, reason, "closed a connection"),
        }
    }
}

/// hyper without pings of its own: a client that is gone is noticed by what it does not send or take.
fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(BODY_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_pending_accept_reset_streams(RESET_EARLY)
        // It would count the streams too that are refused because the client has not seen the settings yet, as long as
        // the connection lasts. The allowance of `Streams` bounds them.
        .max_local_error_reset_streams(None)
        .max_send_buf_size(SEND_BUFFER);
    builder
}
