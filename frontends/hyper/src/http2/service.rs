//! Between hyper and the caller's service, for a stream of HTTP/2.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use h2::Reason;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::service::{HttpService, service_fn};

use super::stream_guard::StreamGuard;
use crate::connection::ConnectionState;
use crate::response_body::{ResponseBody, ResponseGuard as _};
use crate::service::{Call, TowerService, respond, wants_body};

/// The caller's service as one connection of hyper's sees it. Bodies that nobody wants are dropped at once: hyper lets the
/// client send a window of them, and tells it to stop when the response is out.
pub(super) fn new<S: TowerService>(
    service: S,
    state: Arc<ConnectionState>,
) -> impl HttpService<Incoming, ResBody = ResponseBody<S::Body, Arc<StreamGuard>>, Error = h2::Error, Future: Send + 'static>
{
    let service = RefCell::new(service);
    service_fn(move |request: Request<Incoming>| {
        let (mut head, body) = request.into_parts();
        let (state, guard) = (state.clone(), StreamGuard::begin(&state));
        let config = &state.config;
        let is_https = state.peer.note_origin(&mut head, &config.trusted_proxies, &state.shutdown.warned_of_proxy);
        let call = if head.headers.len() > config.limits.header_fields {
            Call::Refused { status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE }
        } else if let Some(guard) = &guard {
            match wants_body(&head, &state) {
                Err(status) => Call::Refused { status },
                Ok(true) => Call::waiting(&service, head, wanted_body(body, config.limits.body_bytes, guard.clone())),
                Ok(false) => Call::begin(&service, head),
            }
        } else {
            // Nobody gets to see this: the stream is reset.
            Call::Refused { status: StatusCode::SERVICE_UNAVAILABLE }
        };
        // In a box, for it is large and soon over, while hyper keeps what it has until the client has taken the response.
        Box::pin(async move {
            let Some(guard) = guard else {
                // Nothing was done, so the client may ask again (RFC 9113, 8.7); a response could have to wait too.
                state.config.metrics.refused.add();
                return Err(Reason::REFUSED_STREAM.into());
            };
            let (head, body) = respond(call.await, is_https, &state);
            guard.polled(true);
            Ok(Response::from_parts(head, ResponseBody { body, guard }))
        })
    })
}

/// Collects the body that the service wants. Until it has arrived, the connection waits for the client.
async fn wanted_body(body: Incoming, limit: u64, guard: Arc<StreamGuard>) -> Result<Bytes, StatusCode> {
    guard.polled(true);
    let collected = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX)).collect().await;
    guard.polled(false);
    match collected {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}
