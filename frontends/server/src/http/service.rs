//! Between hyper and the caller's service: refuses, hands over, catches panics.

use std::{
    cell::RefCell,
    convert::Infallible,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH},
};
use http_body::Body;
use http_body_util::Empty;
use hyper::{
    body::Incoming,
    service::{HttpService, service_fn},
};
use tower_service::Service;

use super::{
    Limits,
    activity::{Activity, Running},
    body::{Answer, Unwanted},
    client::{Client, Way},
    head,
};

/// The caller's service as one connection of hyper's sees it.
pub(super) fn for_connection<S, B>(
    service: S,
    client: Client,
    limits: Limits,
    activity: Arc<Activity>,
) -> impl HttpService<Incoming, ResBody = Answer<B>, Error = Infallible, Future: Send>
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send,
    S::Future: Send,
    B: Body + Send + Unpin,
{
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, body) = request.into_parts();
        let unwanted = Unwanted::new(body, &head.headers, limits.drained_body);
        let (running, alone) = activity.begin(head::usual_length(&head), unwanted);
        let peer = client.peer;
        let way = client.introduce(&mut head);
        let work = head::acceptable(&head).then(|| begin(&service, Request::from_parts(head, Empty::new())));
        async move {
            let Some(work) = work else {
                running.activity().counts().note_malformed();
                return Ok(bare(StatusCode::BAD_REQUEST, running, way));
            };
            let Some(response) = finish(work).await else {
                running.activity().counts().note_panic();
                tracing::error!(%peer, "a request was answered with 500: its service panicked");
                return Ok(bare(StatusCode::INTERNAL_SERVER_ERROR, running, way));
            };
            let (mut head, body) = response.into_parts();
            way.mark(&mut head.headers);
            if running.activity().is_hopeless() || (alone && is_last(&running).await) {
                head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(Response::from_parts(head, Answer::new(Some(body), running)))
        }
    })
}

/// What has become of a request in the service's hands.
pub(super) enum Work<S: Service<R>, R> {
    Called(S::Future),
    /// The service was not ready. Only then is it cloned.
    Waiting(S, R),
    Panicked,
}

/// Hands a request to the service.
pub(super) fn begin<S: Service<R> + Clone, R>(service: &RefCell<S>, request: R) -> Work<S, R> {
    caught(|| {
        let mut service = service.borrow_mut();
        match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(_) => Work::Called(service.call(request)),
            Poll::Pending => Work::Waiting(service.clone(), request),
        }
    })
    .unwrap_or(Work::Panicked)
}

/// The service's answer, or `None` if it panicked.
pub(super) async fn finish<S: Service<R, Error = Infallible>, R>(work: Work<S, R>) -> Option<S::Response> {
    let answer = match work {
        Work::Called(answer) => answer,
        Work::Waiting(mut service, request) => {
            poll_fn(|cx| caught(|| service.poll_ready(cx)).map_or(Poll::Ready(None), |ready| ready.map(Some))).await?;
            caught(|| service.call(request))?
        }
        Work::Panicked => return None,
    };
    let mut answer = pin!(answer);
    let outcome = poll_fn(|cx| caught(|| answer.as_mut().poll(cx)).map_or(Poll::Ready(None), |poll| poll.map(Some)));
    outcome.await.map(|Ok(response)| response)
}

/// The value of `work`, or `None` if it panicked. The panic's message is the panic hook's business.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Whether the server stops, and no further request has arrived on the connection meanwhile.
async fn is_last(running: &Running) -> bool {
    if !running.activity().is_stopping() {
        return false;
    }
    // One turn of the connection, in which the stream looks for further bytes.
    tokio::task::yield_now().await;
    !running.activity().has_unread()
}

/// An answer of the server itself, after which the connection closes.
fn bare<B>(status: StatusCode, running: Running, way: Way) -> Response<Answer<B>> {
    let mut response = Response::new(Answer::new(None, running));
    way.mark(response.headers_mut());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
