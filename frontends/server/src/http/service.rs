//! Between hyper and the caller's service: refuses, hands over, answers in place of one that has panicked.

use std::{
    cell::RefCell,
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH},
    response,
};
use http_body::Body;
use http_body_util::Empty;
use hyper::{
    body::Incoming,
    service::{HttpService, service_fn},
};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::{
    Limits,
    activity::{Activity, Running},
    body::{Answer, Unwanted},
    client::{Client, Way},
    head,
    work::Work,
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
    B: Body + Send + Unpin + 'static,
{
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, body) = request.into_parts();
        let unwanted = Unwanted::new(body, &head.headers, limits.drained_body);
        let (running, alone) = activity.begin(head::usual_length(&head), unwanted);
        let peer = client.peer;
        let way = client.introduce(&mut head);
        let acceptable = head::acceptable(&head);
        Exchange {
            work: acceptable.then(|| Work::begin(&service, Request::from_parts(head, Empty::new()))),
            rest: Some(Rest { running, alone, peer, way }),
            last: None,
        }
    })
}

pin_project! {
    /// A request from its head to its answer's head.
    struct Exchange<S: Service<R>, R, B> {
        // `None` where the head is refused.
        #[pin]
        work: Option<Work<S, R>>,
        rest: Option<Rest>,
        // The answer that may be the last one.
        last: Option<Pin<Box<dyn Future<Output = Response<Answer<B>>> + Send>>>,
    }
}

/// What an answer needs beside the service.
struct Rest {
    running: Running,
    /// Nothing was read behind it.
    alone: bool,
    peer: SocketAddr,
    way: Way,
}

impl<S, R, B> Future for Exchange<S, R, B>
where
    S: Service<R, Response = Response<B>, Error = Infallible>,
    B: Send + 'static,
{
    type Output = Result<Response<Answer<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(last) = this.last {
            return last.as_mut().poll(cx).map(Ok);
        }
        let outcome = match this.work.as_pin_mut() {
            Some(work) => Some(ready!(work.poll(cx))),
            None => None,
        };
        let Rest { running, alone, peer, way } = this.rest.take().expect("it is polled no more after its end");
        let (mut head, body) = match outcome {
            Some(Some(response)) => response.into_parts(),
            Some(None) => {
                running.activity().counts().note_panic();
                tracing::error!(%peer, "a request was answered with 500: its service panicked");
                return Poll::Ready(Ok(bare(StatusCode::INTERNAL_SERVER_ERROR, running, way)));
            }
            None => {
                running.activity().counts().note_malformed();
                return Poll::Ready(Ok(bare(StatusCode::BAD_REQUEST, running, way)));
            }
        };
        way.mark(&mut head.headers);
        if running.activity().is_hopeless() {
            close(&mut head);
        } else if alone && running.activity().is_stopping() {
            let last = this.last.insert(Box::pin(perhaps_last(head, body, running)));
            return last.as_mut().poll(cx).map(Ok);
        }
        Poll::Ready(Ok(Response::from_parts(head, Answer::new(Some(body), running))))
    }
}

/// An answer while the server stops: the last one, unless a further request has arrived on the connection meanwhile.
async fn perhaps_last<B>(mut head: response::Parts, body: B, running: Running) -> Response<Answer<B>> {
    // One turn of the connection, in which the stream looks for further bytes.
    tokio::task::yield_now().await;
    if !running.activity().has_unread() {
        close(&mut head);
    }
    Response::from_parts(head, Answer::new(Some(body), running))
}

fn close(head: &mut response::Parts) {
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
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
