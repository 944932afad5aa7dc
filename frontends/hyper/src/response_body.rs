//! [`ResponseBody`]: the body of the service's response, and what is dropped with it.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionState;
use crate::service::caught;

/// Notes in the connection's state what becomes of a response, and its end when it is dropped.
pub(crate) trait ResponseGuard: Unpin {
    type Data<D: Buf>: Buf;

    fn state(&self) -> &ConnectionState;

    /// hyper has asked for more, which is there or not.
    fn polled(&self, _is_ready: bool) {}

    fn data<D: Buf>(&self, data: D) -> Self::Data<D>;
}

/// hyper drops it when it has the whole response. A panic ends this response alone.
pub(crate) struct ResponseBody<B, G> {
    /// `None` for an empty one.
    pub(crate) body: Option<B>,
    pub(crate) guard: G,
}

impl<B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin, G: ResponseGuard> Body for ResponseBody<B, G> {
    type Data = G::Data<B::Data>;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Self { body: Some(body), guard } = &mut *self else { return Poll::Ready(None) };
        let Some(frame) = caught(|| Pin::new(body).poll_frame(cx)) else {
            guard.state().count_panic("a response was broken off: its service panicked");
            return Poll::Ready(Some(Err("the service panicked".into())));
        };
        guard.polled(frame.is_ready());
        frame.map_ok(|frame| frame.map_data(|data| guard.data(data))).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
