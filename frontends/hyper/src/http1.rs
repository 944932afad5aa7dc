//! HTTP/1: hyper's connection, and the cases in which hyper leaves its close to the caller.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite as _;
use tokio::task::yield_now;

use crate::connection::{OpenConnection, TrackedIo, Transport};
use crate::response_body::ResponseBody;
use crate::service::{TowerService, respond};
use crate::{CloseReason, Limits};

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves HTTP/1 until either side closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    let io = TokioIo::new(TrackedIo { transport, state: state.clone() });
    let request_state = state.clone();
    let exchange = move |request: Request<Incoming>| {
        let response = respond(&service, request, &request_state, None);
        async { Ok::<_, Infallible>(mark_last_response(response.await).await) }
    };
    let mut connection = builder(&state.registry.config.limits).serve_connection(io, service_fn(exchange));

    let outcome = open.timer.run(|cx| Pin::new(&mut connection).poll(cx)).await;
    open.end(&outcome, CloseReason::Failed);
    let is_malformed = matches!(&outcome, Ok(Err(error)) if error.is_parse());
    if is_malformed {
        state.registry.config.metrics.malformed.add();
    }
    // hyper leaves open a connection with an HTTP/2 preface, an upgrade or a missed deadline. A broken socket needs no close.
    if state.lock().is_closed() || (matches!(outcome, Ok(Err(_))) && !is_malformed) {
        return;
    }
    let mut io = connection.into_parts().io.into_inner();
    if outcome.is_ok() {
        open.close(&mut io, if is_malformed { BAD_REQUEST } else { b"" }).await;
    } else {
        // A single poll: the deadline has passed, so the client has no time left to close its side.
        poll_fn(|cx| Poll::Ready(Pin::new(&mut io).poll_shutdown(cx).is_ready())).await;
    }
}

/// Returns hyper's builder without its timer, which cannot distinguish a slow head from an idle connection.
fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes);
    builder
}

/// Adds `Connection: close` if the response is the last one of its connection.
async fn mark_last_response<B>(mut response: Response<ResponseBody<B>>) -> Response<ResponseBody<B>> {
    let ResponseBody { body, request } = response.body();
    let (is_bare, request) = (body.is_none(), request.clone());
    let may_be_last = request.is_unpipelined && request.state.registry.stopping().is_some();
    if may_be_last && !is_bare {
        // hyper flushes before it polls this again, and the flush checks for further bytes, which may be another request.
        yield_now().await;
    }
    if is_bare || may_be_last && !request.state.lock().bytes_waiting {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
