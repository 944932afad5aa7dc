//! HTTP/1: hyper's connection, and the shutdown that it leaves open.

use std::cell::RefCell;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pin_project_lite::pin_project;

use crate::connection::{OpenConnection, TrackedIo, Transport};
use crate::response_body::ResponseBody;
use crate::service::{Call, TowerService};
use crate::{CloseReason, Limits};

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Serves HTTP/1 until one of the sides closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    let io = TokioIo::new(TrackedIo { transport, state: state.clone() });
    let (service, of_calls) = (RefCell::new(service), state.clone());
    let exchange = move |request: Request<Incoming>| {
        let call = Call::begin(&service, request, &of_calls, None);
        Exchange { call, last: None }
    };
    let mut connection = builder(&state.registry.config.limits).serve_connection(io, service_fn(exchange));

    let outcome = open.timer.run(|cx| Pin::new(&mut connection).poll(cx)).await;
    open.end(&outcome, |_| CloseReason::Failed);
    let is_malformed = matches!(&outcome, Ok(Err(error)) if error.is_parse());
    if is_malformed {
        state.registry.config.metrics.malformed.add();
    }
    // hyper has closed it, except after the preface of HTTP/2, an error of the socket, and a wish to upgrade.
    if state.lock().is_closed() || (matches!(outcome, Ok(Err(_))) && !is_malformed) {
        return;
    }
    if outcome.is_err() {
        state.lock().close_at_once();
    }
    let mut io = connection.into_parts().io.into_inner();
    open.close(&mut io, if is_malformed { BAD_REQUEST } else { b"" }).await;
}

/// hyper without its timer, which cannot tell a slow head from an idle connection.
fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(8 * 1024));
    builder
}

type Http1Response<S> = Response<ResponseBody<<S as TowerService>::Body>>;

pin_project! {
    struct Exchange<S: TowerService> {
        #[pin]
        call: Call<S>,
        // The response that may be the last one while the server stops.
        last: Option<Box<Http1Response<S>>>,
    }
}

impl<S: TowerService> Future for Exchange<S> {
    type Output = Result<Http1Response<S>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(mut last) = this.last.take() {
            if !last.body().request.state.lock().bytes_waiting {
                last.headers_mut().insert(CONNECTION, CLOSE);
            }
            return Poll::Ready(Ok(*last));
        }
        let mut response = ready!(this.call.poll(cx));
        let ResponseBody { body, request } = response.body();
        let may_be_last = request.is_alone && request.state.registry.stopping().is_some();
        if body.is_none() {
            response.headers_mut().insert(CONNECTION, CLOSE);
        } else if may_be_last {
            // The I/O looks for further bytes in this turn of the connection, which may be a further request.
            *this.last = Some(Box::new(response));
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(response))
    }
}
