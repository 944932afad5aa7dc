//! [`ResponseBody`]: the body of the service's response.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use crate::connection::WaitsFor;
use crate::open_request::{OpenRequest, TrackedBuf};
use crate::service::catch_panic;

/// Body of a response. hyper drops it when it has the whole response. A panic breaks off the response.
pub(crate) struct ResponseBody<B> {
    /// `None` for a bare response, which the server sends instead of the service's.
    pub(crate) body: Option<B>,
    pub(crate) request: Arc<OpenRequest>,
}

impl<B> Body for ResponseBody<B>
where
    B: Body<Data: Buf, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    type Data = TrackedBuf<B::Data>;
    type Error = Box<dyn Error + Send + Sync>;

    /// Returns the next part. hyper polls only as far as the socket and the client's windows allow.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Self { body: Some(body), request } = &mut *self else { return Poll::Ready(None) };
        let Some(frame) = catch_panic(|| Pin::new(body).poll_frame(cx)) else {
            request.state.count_panic("aborted a response: its service panicked");
            return Poll::Ready(Some(Err("the service panicked".into())));
        };
        request.wait(if frame.is_pending() { WaitsFor::Service } else { WaitsFor::Window });
        frame.map_ok(|frame| frame.map_data(|data| TrackedBuf { data, request: request.clone() })).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
