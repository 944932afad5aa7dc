//! The host application's service: its trait, calls of it, and its responses.

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Buf;
use http::header::{CONTENT_LENGTH, STRICT_TRANSPORT_SECURITY};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service;

use crate::RequestBody;
use crate::connection::ConnectionState;
use crate::open_request::OpenRequest;
use crate::request::validate;
use crate::response_body::ResponseBody;

/// HSTS (RFC 6797): for a year from each response, browsers use only HTTPS for this host, but not for its subdomains.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// A tower service over HTTP that never fails, for [`serve`](crate::serve). Implemented for every type that fits.
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
    /// Body of the service's responses.
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

/// Begins a request, and passes it to the service. The future returns the service's response, or a bare 400 or 500.
pub(crate) fn respond<S: TowerService>(
    service: &S,
    request: Request<Incoming>,
    state: &Arc<ConnectionState>,
    stream: Option<OwnedSemaphorePermit>,
) -> impl Future<Output = Response<ResponseBody<S::Body>>> + Send + use<S> {
    let open = OpenRequest::begin(state, validate::canonical_head_len(&request), stream);
    let service = service.clone();
    async move {
        let (mut head, body) = request.into_parts();
        let (peer, registry) = (open.state.peer, &open.state.registry);
        let is_https =
            peer.record_client_address(&mut head, &registry.config.trusted_proxies, &registry.warned_of_proxy);
        let outcome = if validate::is_valid_head(&head) {
            let body = RequestBody { body, request: open.clone() };
            call(service, Request::from_parts(head, body)).await.ok_or(StatusCode::INTERNAL_SERVER_ERROR)
        } else {
            Err(StatusCode::BAD_REQUEST)
        };
        let mut response =
            outcome.map(|response| response.map(Some)).unwrap_or_else(|status| empty_response(status, &open.state));
        if is_https {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HSTS);
        }
        response.map(|body| ResponseBody { body, request: open })
    }
}

/// Returns the service's response, or `None` if it panicked.
async fn call<S: TowerService>(mut service: S, request: Request<RequestBody>) -> Option<Response<S::Body>> {
    let mut response = pin!(async move {
        let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
        let Ok(response) = service.call(request).await;
        response
    });
    poll_fn(|cx| catch_panic(|| response.as_mut().poll(cx)).map_or(Poll::Ready(None), |poll| poll.map(Some))).await
}

/// Returns the value of `work`, or `None` if it panicked. The panic hook reports the panic's message.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Counts a request without a response from the service. Returns a response without a body.
fn empty_response<B>(status: StatusCode, state: &ConnectionState) -> Response<Option<B>> {
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        state.count_panic("a request got a 500: its service panicked");
    } else {
        state.registry.config.metrics.malformed.add();
    }
    let mut response = Response::new(None);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}
