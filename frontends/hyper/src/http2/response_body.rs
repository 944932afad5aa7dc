//! [`ResponseBody`]: a response's body on HTTP/2, whose data says how much of it went out.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionState;

/// A request that is not answered to the last byte, until this is dropped.
pub(super) struct StreamGuard {
    state: Arc<ConnectionState>,
    id: u64,
}

impl StreamGuard {
    /// A request has come, unless there are too many.
    pub(super) fn begin(state: &Arc<ConnectionState>) -> Option<Self> {
        Some(Self { id: state.lock().begin_http2()?, state: state.clone() })
    }

    fn sent(&self, bytes: usize) {
        self.state.http2(|http2, now| http2.sent(self.id, bytes, now));
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.state.http2(|http2, now| http2.end(self.id, now));
    }
}

/// The body of a response. hyper drops it when h2 has taken all of it, and h2 drops its data when that was written.
pub(crate) struct ResponseBody<B> {
    /// `None` for an empty one.
    body: Option<B>,
    guard: Arc<StreamGuard>,
}

impl<B> ResponseBody<B> {
    /// The service has answered.
    pub(super) fn new(body: Option<B>, guard: StreamGuard) -> Self {
        guard.state.http2(|http2, now| http2.wait(guard.id, true, now));
        Self { body, guard: Arc::new(guard) }
    }
}

impl<B: Body + Unpin> Body for ResponseBody<B> {
    type Data = Sending<B::Data>;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, B::Error>>> {
        let Self { body: Some(body), guard } = &mut *self else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(cx);
        // hyper asks for more only as far as the client's windows allow.
        guard.state.http2(|http2, now| http2.wait(guard.id, frame.is_ready(), now));
        frame.map_ok(|frame| frame.map_data(|data| Sending { data, guard: guard.clone() }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

/// A part of a response that h2 writes as far as the client's windows allow.
pub(crate) struct Sending<D> {
    data: D,
    guard: Arc<StreamGuard>,
}

impl<D: Buf> Buf for Sending<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        self.data.chunks_vectored(slices)
    }

    fn advance(&mut self, bytes: usize) {
        self.data.advance(bytes);
        self.guard.sent(bytes);
    }
}
