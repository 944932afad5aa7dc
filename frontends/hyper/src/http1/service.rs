//! Between hyper and the caller's service, for HTTP/1.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::header::CONNECTION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::{HttpService, service_fn};
use pin_project_lite::pin_project;

use super::RequestBody;
use super::response_body::{ResponseBody, ResponseGuard};
use crate::connection::ConnectionState;
use crate::request::client_address::Secured;
use crate::request::validate;
use crate::service::{Call, HttpRequest, TowerService, respond};

/// The caller's service as one connection of hyper's sees it.
pub(super) fn new<S: TowerService>(
    service: S,
    state: Arc<ConnectionState>,
) -> impl HttpService<Incoming, ResBody = ResponseBody<S::Body>, Error = Infallible, Future: Send> {
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, body) = request.into_parts();
        let config = &state.config;
        let is_acceptable = validate::is_acceptable(&head);
        let wants_body = is_acceptable && (config.wants_body)(&head);
        let body = RequestBody::new(body, &head.headers, wants_body, &config.limits);
        let alone = state.lock().begin_http1(validate::usual_length(&head), body);
        let guard = ResponseGuard(state.clone());
        let secured = state.peer.introduce(&mut head, &config.trusted_proxies);
        let call = if !is_acceptable {
            Call::Refused { status: StatusCode::BAD_REQUEST }
        } else if wants_body {
            Call::waiting(service.borrow().clone(), with_body(head, state.clone()))
        } else {
            Call::begin(&service, Request::from_parts(head, Full::default()))
        };
        Exchange { call, guard: Some(guard), alone, secured, last: None }
    })
}

/// The request, once its body is there.
async fn with_body(head: Parts, state: Arc<ConnectionState>) -> Result<HttpRequest, StatusCode> {
    let body = poll_fn(|cx| state.http1(|http1, last_io| http1.poll_wanted(cx, last_io)).unwrap_or(Poll::Pending));
    Ok(Request::from_parts(head, Full::new(body.await?)))
}

pin_project! {
    /// A request from its head to its response's head.
    struct Exchange<S: TowerService> {
        #[pin]
        call: Call<S>,
        // Until the service has answered.
        guard: Option<ResponseGuard>,
        // Nothing was read behind the request.
        alone: bool,
        secured: Secured,
        // The response that may be the last one while the server stops.
        last: Option<Box<Response<ResponseBody<S::Body>>>>,
    }
}

impl<S: TowerService> Future for Exchange<S> {
    type Output = Result<Response<ResponseBody<S::Body>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(mut last) = this.last.take() {
            if !last.body().guard.0.lock().unread {
                close(last.headers_mut());
            }
            return Poll::Ready(Ok(*last));
        }
        let outcome = ready!(this.call.poll(cx));
        let guard = this.guard.take().expect("it is polled no more after its end");
        let (mut head, body) = respond(outcome, *this.secured, &guard.0);
        let ends = body.is_none() || guard.0.http1(|http1, _| http1.has_unread_body()) == Some(true);
        let may_be_last = !ends && *this.alone && guard.0.is_stopping();
        if ends {
            close(&mut head.headers);
        }
        let response = Response::from_parts(head, ResponseBody::new(body, guard));
        if !may_be_last {
            return Poll::Ready(Ok(response));
        }
        // Its I/O looks for further bytes in this turn of the connection. If a further request has arrived, this is not the
        // last response.
        *this.last = Some(Box::new(response));
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn close(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
}
