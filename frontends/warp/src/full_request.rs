//! [`full_request`]: extracts requests with their bodies.

use std::pin::pin;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use http::{Request, request};
use warp::{Filter, Rejection};

use crate::{attached_head, build_head};

/// Returns a filter that extracts the whole request, for services that read request bodies, such as the developer settings.
/// Put it after the filters that choose the route.
///
/// If the body is longer than `limit` bytes, `limit` + 1 bytes are extracted, so that the service can refuse it.
/// A request whose body ends early is rejected with [`BrokenBody`].
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use warp::Filter;
///
/// let respond = |request: Request<Bytes>| async move { Response::new(request.into_body()) };
/// let routes = warp::path("settings").and(catalogue_warp::full_request(16 << 10)).then(respond);
/// # let _ = warp::service(routes);
/// ```
pub fn full_request(
    limit: usize,
) -> impl Filter<Extract = (Request<Bytes>,), Error = Rejection> + Clone + Send + Sync + 'static {
    let body = warp::body::stream().and_then(move |body| async move { read(body, limit).await });
    attached_head()
        .or(build_head())
        .unify()
        .and(body)
        .map(|head: Arc<request::Parts>, body| Request::from_parts(Arc::unwrap_or_clone(head), body))
}

/// Rejection of a request whose body ended early.
#[derive(Clone, Copy, Debug)]
pub struct BrokenBody;

impl warp::reject::Reject for BrokenBody {}

async fn read(body: impl Stream<Item = Result<impl Buf, warp::Error>>, limit: usize) -> Result<Bytes, Rejection> {
    let (mut body, mut bytes) = (pin!(body), BytesMut::new());
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| warp::reject::custom(BrokenBody))?;
        let remaining = limit.saturating_add(1) - bytes.len();
        let length = piece.remaining().min(remaining);
        bytes.extend_from_slice(&piece.take(length).copy_to_bytes(length));
        if bytes.len() > limit {
            break;
        }
    }
    Ok(bytes.freeze())
}
