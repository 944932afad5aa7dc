//! The caller's service: what it must be, a request in its hands, and the response to it.

use std::cell::RefCell;
use std::convert::Infallible;
use std::error::Error;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use http::header::{CONTENT_LENGTH, STRICT_TRANSPORT_SECURITY};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode, response};
use http_body::Body;
use http_body_util::Full;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::connection::ConnectionState;
use crate::request::validate;

/// RFC 6797: for a year from each response, browsers ask this host, and no others of its domain, over HTTPS alone.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

pub(crate) type HttpRequest = Request<Full<Bytes>>;

/// A tower service over HTTP that never fails, for [`serve`](crate::serve). It is implemented for every type that fits.
pub trait TowerService:
    Service<HttpRequest, Response = Response<<Self as TowerService>::Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static;
}

impl<S, B> TowerService for S
where
    S: Service<HttpRequest, Response = Response<B>, Error = Infallible, Future: Send> + Clone + Send + 'static,
    S::Future: 'static,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    type Body = B;
}

pin_project! {
    /// A request in the service's hands, and at the end its response, or the status of a bare one in its place. A future by
    /// hand, which asks the service's own where it lies: a block of code would move it, and it is large.
    #[project = CallState]
    pub(crate) enum Call<S: TowerService> {
        Called {
            #[pin]
            response: S::Future,
        },
        // The service is not ready, or the body is not there.
        Waiting { response: Pin<Box<dyn Future<Output = Result<Response<S::Body>, StatusCode>> + Send>> },
        Refused { status: StatusCode },
    }
}

impl<S: TowerService> Call<S> {
    const PANICKED: Self = Self::Refused { status: StatusCode::INTERNAL_SERVER_ERROR };

    /// Hands a request without a body to the service, which is cloned only if it is not ready.
    pub(crate) fn begin(service: &RefCell<S>, head: Parts) -> Self {
        let mut call = Self::PANICKED;
        // Written where it is to be, for the same reason.
        caught(|| {
            let is_ready = service.borrow_mut().poll_ready(&mut Context::from_waker(Waker::noop())).is_ready();
            call = match is_ready {
                true => {
                    Self::Called { response: service.borrow_mut().call(Request::from_parts(head, Full::default())) }
                }
                false => Self::waiting(service, head, ready(Ok(Bytes::new()))),
            };
        });
        call
    }

    /// Hands a request to the service as soon as its body and the service are ready.
    pub(crate) fn waiting(
        service: &RefCell<S>,
        head: Parts,
        body: impl Future<Output = Result<Bytes, StatusCode>> + Send + 'static,
    ) -> Self {
        let Some(mut service) = caught(|| service.borrow().clone()) else { return Self::PANICKED };
        let response = Box::pin(async move {
            let request = Request::from_parts(head, Full::new(body.await?));
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(response) = service.call(request).await;
            Ok(response)
        });
        Self::Waiting { response }
    }
}

impl<S: TowerService> Future for Call<S> {
    type Output = Result<Response<S::Body>, StatusCode>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = caught(|| match self.project() {
            CallState::Called { response } => response.poll(cx).map(|Ok(response)| Ok(response)),
            CallState::Waiting { response } => response.as_mut().poll(cx),
            CallState::Refused { status } => Poll::Ready(Err(*status)),
        });
        poll.unwrap_or(Poll::Ready(Err(StatusCode::INTERNAL_SERVER_ERROR)))
    }
}

/// Whether a request may be served and its service wants the body; else the status that refuses it.
pub(crate) fn wants_body(head: &Parts, state: &ConnectionState) -> Result<bool, StatusCode> {
    if !validate::is_acceptable(head) {
        return Err(StatusCode::BAD_REQUEST);
    }
    caught(|| (state.config.wants_body)(head)).ok_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The value of `work`, or `None` if it panicked. The panic's message is the panic hook's business.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The service's response, or a bare one in its place, which has no body.
pub(crate) fn respond<B>(
    outcome: Result<Response<B>, StatusCode>,
    is_https: bool,
    state: &ConnectionState,
) -> (response::Parts, Option<B>) {
    let mut response = outcome.map(|response| response.map(Some)).unwrap_or_else(|status| {
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            state.count_panic("a request was answered with 500, for the code that serves it panicked");
        } else {
            state.config.metrics.malformed.add();
        }
        let mut bare = Response::new(None);
        *bare.status_mut() = status;
        bare.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        bare
    });
    if is_https {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    response.into_parts()
}
