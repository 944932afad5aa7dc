//! [`ResponseBody`]: a response's body on HTTP/1, whose end is noted.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionState;

/// Notes the end of a response when hyper drops it.
pub(crate) struct ResponseBody<B> {
    /// `None` for an empty one.
    body: Option<B>,
    pub(super) guard: ResponseGuard,
}

/// A request that is being answered, until this is dropped.
pub(super) struct ResponseGuard(pub(super) Arc<ConnectionState>);

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.lock().end_http1();
    }
}

impl<B> ResponseBody<B> {
    pub(super) fn new(body: Option<B>, guard: ResponseGuard) -> Self {
        Self { body, guard }
    }
}

impl<B: Body + Unpin> Body for ResponseBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
