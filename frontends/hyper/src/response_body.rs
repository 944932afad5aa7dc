//! [`ResponseBody`]: the body of the service's response, and what is dropped with it.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionState;
use crate::service::caught;

/// Notes its drop in the connection's state.
pub(crate) trait Guard: Unpin {
    fn state(&self) -> &ConnectionState;
}

/// hyper drops it with the end of the response. A panic ends this response alone.
pub(crate) struct ResponseBody<B, G> {
    /// `None` for an empty one.
    pub(crate) body: Option<B>,
    pub(crate) guard: G,
}

impl<B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin, G: Guard> Body for ResponseBody<B, G> {
    type Data = B::Data;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        if let Some(frame) = caught(|| Pin::new(body).poll_frame(cx)) {
            return frame.map_err(Into::into);
        }
        self.guard.state().count_panic("a response was broken off: its service panicked");
        Poll::Ready(Some(Err("the service panicked".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
