//! The caller's service: what it must be, a request in its hands, and the response to it.

use std::cell::RefCell;
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Buf;
use http::header::{CONTENT_LENGTH, STRICT_TRANSPORT_SECURITY};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service;

use crate::RequestBody;
use crate::connection::ConnectionState;
use crate::open_request::OpenRequest;
use crate::request::validate;
use crate::response_body::ResponseBody;

/// RFC 6797: for a year from each response, browsers ask this host, and no others of its domain, over HTTPS alone.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// A tower service over HTTP that never fails, for [`serve`](crate::serve). It is implemented for every type that fits.
pub trait TowerService:
    Service<
        Request<RequestBody>,
        Response = Response<<Self as TowerService>::Body>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static;
}

impl<S, B> TowerService for S
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible, Future: Send> + Clone + Send + 'static,
    S::Future: 'static,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    type Body = B;
}

pin_project! {
    /// A request from its head to its response's head.
    pub(crate) struct Call<S: TowerService> {
        #[pin]
        work: Work<S>,
        // Until the service has responded.
        request: Option<Arc<OpenRequest>>,
        is_https: bool,
    }
}

pin_project! {
    /// A future by hand, which polls the service's own in place: an async block would move it, and it is large.
    #[project = WorkState]
    enum Work<S: TowerService> {
        Called {
            #[pin]
            response: S::Future,
        },
        // The service was not ready.
        Waiting { response: Pin<Box<dyn Future<Output = Response<S::Body>> + Send>> },
        Refused { status: StatusCode },
    }
}

impl<S: TowerService> Call<S> {
    /// Hands a request to the service, which is cloned only if it is not ready.
    pub(crate) fn begin(
        service: &RefCell<S>,
        request: Request<Incoming>,
        state: &Arc<ConnectionState>,
        stream: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let (mut head, body) = request.into_parts();
        let (config, warned) = (&state.registry.config, &state.registry.warned_of_proxy);
        let is_https = state.peer.note_origin(&mut head, &config.trusted_proxies, warned);
        let request = OpenRequest::begin(state, validate::usual_length(&head), stream);
        let (work, open) = (Work::Refused { status: StatusCode::BAD_REQUEST }, request.clone());
        let mut call = Self { work, request: Some(request), is_https };
        if validate::is_acceptable(&head) {
            call.work = Work::Refused { status: StatusCode::INTERNAL_SERVER_ERROR };
            // Written where it is to be, for it is large.
            caught(|| {
                let request = Request::from_parts(head, RequestBody { body, request: open });
                let is_ready = service.borrow_mut().poll_ready(&mut Context::from_waker(Waker::noop())).is_ready();
                call.work = match is_ready {
                    true => Work::Called { response: service.borrow_mut().call(request) },
                    false => Work::waiting(service.borrow().clone(), request),
                };
            });
        }
        call
    }
}

impl<S: TowerService> Work<S> {
    fn waiting(mut service: S, request: Request<RequestBody>) -> Self {
        let response = Box::pin(async move {
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(response) = service.call(request).await;
            response
        });
        Self::Waiting { response }
    }
}

impl<S: TowerService> Future for Call<S> {
    type Output = Response<ResponseBody<S::Body>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let poll = caught(|| match this.work.project() {
            WorkState::Called { response } => response.poll(cx).map(|Ok(response)| Ok(response)),
            WorkState::Waiting { response } => response.as_mut().poll(cx).map(Ok),
            WorkState::Refused { status } => Poll::Ready(Err(*status)),
        });
        let outcome = ready!(poll.unwrap_or(Poll::Ready(Err(StatusCode::INTERNAL_SERVER_ERROR))));
        let request = this.request.take().expect("it is polled no more after its end");
        Poll::Ready(respond(outcome, *this.is_https, request))
    }
}

/// The value of `work`, or `None` if it panicked. The panic's message is the panic hook's business.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The service's response, or a bare one in its place, which has no body.
fn respond<B>(
    outcome: Result<Response<B>, StatusCode>,
    is_https: bool,
    request: Arc<OpenRequest>,
) -> Response<ResponseBody<B>> {
    let mut response = outcome.map(|response| response.map(Some)).unwrap_or_else(|status| {
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            request.state.count_panic("a request was answered with 500, for the code that serves it panicked");
        } else {
            request.state.registry.config.metrics.malformed.add();
        }
        let mut bare = Response::new(None);
        *bare.status_mut() = status;
        bare.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        bare
    });
    if is_https {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    response.map(|body| ResponseBody { body, request })
}
