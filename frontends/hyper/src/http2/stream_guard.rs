//! [`StreamGuard`]: a request of HTTP/2 until it is answered to the last byte, and this is dropped.

use std::sync::Arc;

use bytes::Buf;

use crate::connection::ConnectionState;
use crate::response_body::ResponseGuard;

pub(super) struct StreamGuard {
    state: Arc<ConnectionState>,
    id: u64,
}

impl StreamGuard {
    /// A request has come, unless there are too many.
    pub(super) fn begin(state: &Arc<ConnectionState>) -> Option<Arc<Self>> {
        let id = state.lock().begin_http2()?;
        Some(Arc::new(Self { state: state.clone(), id }))
    }
}

impl ResponseGuard for Arc<StreamGuard> {
    type Data<D: Buf> = Sending<D>;

    fn state(&self) -> &ConnectionState {
        &self.state
    }

    /// hyper asks for more only as far as the client's windows allow.
    fn polled(&self, is_ready: bool) {
        self.state.http2(|http2, now| http2.wait(self.id, is_ready, now));
    }

    fn data<D: Buf>(&self, data: D) -> Sending<D> {
        Sending { data, guard: self.clone() }
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.state.http2(|http2, now| http2.end(self.id, now));
    }
}

/// A part of a response that h2 writes as far as the client's windows allow, and drops when it is written.
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

    fn advance(&mut self, bytes: usize) {
        self.data.advance(bytes);
        self.guard.state.http2(|http2, now| http2.sent(self.guard.id, bytes, now));
    }
}
