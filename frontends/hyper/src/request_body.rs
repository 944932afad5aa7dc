//! [`RequestBody`]: the body of a request, as the service polls it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::connection::WaitsFor;
use crate::open_request::OpenRequest;

/// Body of a request. It is read as the service polls it, and has no limit: wrap it in `http_body_util::Limited`. While
/// the service polls it and nothing arrives, a full server may evict the connection.
pub struct RequestBody {
    pub(crate) body: Incoming,
    pub(crate) request: Arc<OpenRequest>,
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.request.wait(if frame.is_pending() { WaitsFor::Body } else { WaitsFor::Service });
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}
