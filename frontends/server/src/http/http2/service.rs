//! Between hyper and the caller's service, for a stream of HTTP/2: refuses, hands over, catches panics.

use std::{cell::RefCell, convert::Infallible, error::Error, sync::Arc};

use bytes::Bytes;
use h2::Reason;
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_LENGTH};
use http_body::Body;
use http_body_util::{Either, Empty};
use hyper::{
    body::Incoming,
    service::{HttpService, service_fn},
};
use tower_service::Service;

use super::super::{
    Limits,
    activity::Activity,
    client::{Client, Way},
    head,
    work::Work,
};

/// The caller's service as one connection of hyper's sees it. Its bodies are dropped at once: hyper lets the client
/// send a window of them, and tells it to stop when the answer is out.
pub(super) fn for_connection<S, B>(
    service: S,
    client: Client,
    limits: Limits,
    activity: Arc<Activity>,
) -> impl HttpService<Incoming, ResBody = Either<B, Empty<B::Data>>, Error = h2::Error, Future: Send + 'static>
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, _) = request.into_parts();
        let peer = client.peer;
        let way = client.introduce(&mut head);
        let work = if activity.with_streams(|streams| streams.is_refused()) == Some(true) {
            Err(None)
        } else if head.headers.len() > limits.header_fields {
            Err(Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE))
        } else if !head::acceptable(&head) {
            Err(Some(StatusCode::BAD_REQUEST))
        } else {
            Ok(Work::begin(&service, Request::from_parts(head, Empty::new())))
        };
        let activity = activity.clone();
        // In a box, for it is large and soon over, while hyper keeps what it has until the client has taken the answer.
        Box::pin(async move {
            let work = match work {
                Ok(work) => work,
                Err(Some(status)) => {
                    activity.counts().note_malformed();
                    return Ok(bare(status, way));
                }
                // Nothing was done, so the client may ask again (RFC 9113, 8.7); an answer could have to wait too.
                Err(None) => {
                    activity.counts().note_refused();
                    return Err(Reason::REFUSED_STREAM.into());
                }
            };
            let Some(response) = work.await else {
                activity.counts().note_panic();
                tracing::error!(%peer, "a request was answered with 500: its service panicked");
                return Ok(bare(StatusCode::INTERNAL_SERVER_ERROR, way));
            };
            let mut response = response.map(Either::Left);
            way.mark(response.headers_mut());
            Ok(response)
        })
    })
}

/// An answer of the server itself.
fn bare<B: Body>(status: StatusCode, way: Way) -> Response<Either<B, Empty<B::Data>>> {
    let mut response = Response::new(Either::Right(Empty::new()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    way.mark(response.headers_mut());
    response
}
