//! Between hyper and the caller's service, for HTTP/1.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::header::CONNECTION;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::{HttpService, service_fn};
use pin_project_lite::pin_project;

use super::RequestBody;
use crate::connection::ConnectionState;
use crate::request::validate;
use crate::response_body::{ResponseBody, ResponseGuard};
use crate::service::{Call, TowerService, respond, wants_body};

/// A request that is being answered, until this is dropped.
pub(super) struct RequestGuard(Arc<ConnectionState>);

impl ResponseGuard for RequestGuard {
    type Data<D: Buf> = D;

    fn state(&self) -> &ConnectionState {
        &self.0
    }

    fn data<D: Buf>(&self, data: D) -> D {
        data
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.lock().end_http1();
    }
}

pub(super) fn new<S: TowerService>(
    service: S,
    state: Arc<ConnectionState>,
) -> impl HttpService<Incoming, ResBody = ResponseBody<S::Body, RequestGuard>, Error = Infallible, Future: Send> {
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, body) = request.into_parts();
        let wants_body = wants_body(&head, &state);
        let body = RequestBody::new(body, &head.headers, wants_body == Ok(true), &state.config.limits);
        let is_pipelined = state.lock().begin_http1(validate::usual_length(&head), body);
        let guard = RequestGuard(state.clone());
        let is_https =
            state.peer.note_origin(&mut head, &state.config.trusted_proxies, &state.shutdown.warned_of_proxy);
        let call = match wants_body {
            Err(status) => Call::Refused { status },
            Ok(true) => Call::waiting(&service, head, wanted_body(state.clone())),
            Ok(false) => Call::begin(&service, head),
        };
        Exchange { call, guard: Some(guard), is_pipelined, is_https, last: None }
    })
}

async fn wanted_body(state: Arc<ConnectionState>) -> Result<Bytes, StatusCode> {
    let body =
        poll_fn(|cx| state.http1(|http1, last_io| http1.poll_wanted(cx, last_io)).unwrap_or(Poll::Pending)).await;
    state.lock().keep();
    body
}

type Http1Response<S> = Response<ResponseBody<<S as TowerService>::Body, RequestGuard>>;

pin_project! {
    /// A request from its head to its response's head.
    struct Exchange<S: TowerService> {
        #[pin]
        call: Call<S>,
        // Until the service has answered.
        guard: Option<RequestGuard>,
        // Another request may have been read behind this one.
        is_pipelined: bool,
        is_https: bool,
        // The response that may be the last one while the server stops.
        last: Option<Box<Http1Response<S>>>,
    }
}

impl<S: TowerService> Future for Exchange<S> {
    type Output = Result<Http1Response<S>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(mut last) = this.last.take() {
            if !last.body().guard.0.lock().bytes_waiting {
                close(last.headers_mut());
            }
            return Poll::Ready(Ok(*last));
        }
        let outcome = ready!(this.call.poll(cx));
        let guard = this.guard.take().expect("it is polled no more after its end");
        let (mut head, body) = respond(outcome, *this.is_https, &guard.0);
        let ends = body.is_none() || guard.0.http1(|http1, _| http1.has_unread_body()) == Some(true);
        if ends {
            close(&mut head.headers);
        }
        let may_be_last = !ends && !*this.is_pipelined && guard.0.shutdown.end_of_grace().is_some();
        let response = Response::from_parts(head, ResponseBody { body, guard });
        if !may_be_last {
            return Poll::Ready(Ok(response));
        }
        // Its I/O looks for further bytes in this turn of the connection, which may be a further request.
        *this.last = Some(Box::new(response));
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn close(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
}
