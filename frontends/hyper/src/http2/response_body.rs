//! [`Http2Body`]: a response's body on HTTP/2, whose data says how much of it went out.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionState;
use crate::response_body::{Guard, ResponseBody};

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

    /// The client is waited for, or the service is.
    fn wait(&self, for_client: bool) {
        self.state.http2(|http2, now| http2.wait(self.id, for_client, now));
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

impl Guard for Arc<StreamGuard> {
    fn state(&self) -> &ConnectionState {
        &self.state
    }
}

/// hyper drops it when h2 has taken all of it, and h2 drops its data when that was written.
pub(super) struct Http2Body<B>(ResponseBody<B, Arc<StreamGuard>>);

impl<B> Http2Body<B> {
    /// The service has answered.
    pub(super) fn new(body: Option<B>, guard: StreamGuard) -> Self {
        guard.wait(true);
        Self(ResponseBody { body, guard: Arc::new(guard) })
    }
}

impl<B> Body for Http2Body<B>
where
    ResponseBody<B, Arc<StreamGuard>>: Body + Unpin,
{
    type Data = Sending<<ResponseBody<B, Arc<StreamGuard>> as Body>::Data>;
    type Error = <ResponseBody<B, Arc<StreamGuard>> as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.0).poll_frame(cx);
        let guard = &self.0.guard;
        // hyper asks for more only as far as the client's windows allow.
        guard.wait(frame.is_ready());
        frame.map_ok(|frame| frame.map_data(|data| Sending { data, guard: guard.clone() }))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// A part of a response that h2 writes as far as the client's windows allow.
pub(super) struct Sending<D> {
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
