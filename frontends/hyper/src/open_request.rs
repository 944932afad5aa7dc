//! [`OpenRequest`]: a request from its head to the last byte of its response.

use std::sync::Arc;

use bytes::Buf;
use tokio::sync::OwnedSemaphorePermit;

use crate::connection::{ConnectionState, WaitsFor};

/// An open request. Ends when its last owner is dropped: the body, the service's call, the response or an unwritten part.
pub(crate) struct OpenRequest {
    pub(crate) state: Arc<ConnectionState>,
    id: u64,
    /// Whether no byte after its head had been read when it began; see [`Activity::begin`](crate::connection::Activity::begin).
    pub(crate) is_unpipelined: bool,
    _stream: Option<OwnedSemaphorePermit>,
}

impl OpenRequest {
    /// Begins a request whose head was read. `head_length` is the length of the head in canonical form.
    pub(crate) fn begin(
        state: &Arc<ConnectionState>,
        head_length: usize,
        stream: Option<OwnedSemaphorePermit>,
    ) -> Arc<Self> {
        let (id, is_unpipelined) = state.lock().begin(head_length);
        Arc::new(Self { state: state.clone(), id, is_unpipelined, _stream: stream })
    }

    pub(crate) fn wait(&self, waits_for: WaitsFor) {
        self.state.lock().wait(self.id, waits_for);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.state.lock().end_request(self.id);
    }
}

/// A part of a response that waits for room in the socket's buffer and, on HTTP/2, in the client's flow-control windows.
pub(crate) struct TrackedBuf<D> {
    pub(crate) data: D,
    pub(crate) request: Arc<OpenRequest>,
}

impl<D: Buf> Buf for TrackedBuf<D> {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn advance(&mut self, bytes: usize) {
        self.data.advance(bytes);
        self.request.state.lock().record_sent(self.request.id);
    }
}
