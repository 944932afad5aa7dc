//! The bodies of requests, which nobody wants, and of answers, whose end is noted.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderMap, header::EXPECT};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::activity::Running;

/// A request's body that is read beside the answer and thrown away, so that the next request can be read.
pub(super) struct Unwanted {
    body: Incoming,
    left: u64,
    hopeless: bool,
}

impl Unwanted {
    /// `None` when there is nothing to read.
    pub(super) fn new(body: Incoming, headers: &HeaderMap, limit: u64) -> Option<Self> {
        // A client that waits for `100 Continue` would get it as soon as the body is asked for.
        let hopeless = body.size_hint().lower() > limit || headers.contains_key(EXPECT);
        (!body.is_end_stream()).then_some(Self { body, left: limit, hopeless })
    }

    /// How long it is, where the head says so; asked before any of it is read.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Whether it is not worth reading, so that the connection ends with the answer: it is too long, or comes only
    /// when asked for.
    ///
    /// Such a body is kept all the same: dropped, hyper closes the connection by itself, and cuts the answer short
    /// if the client has asked for an upgrade.
    pub(super) fn is_hopeless(&self) -> bool {
        self.hopeless
    }

    /// Ready at the end of the body, in good order or not.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.hopeless {
            if self.body.is_end_stream() {
                return Poll::Ready(());
            }
            let Some(Ok(frame)) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else { return Poll::Ready(()) };
            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.hopeless = length > self.left;
            self.left = self.left.saturating_sub(length);
        }
        Poll::Pending
    }

    /// How much of it may still come.
    pub(super) fn left(&self) -> u64 {
        self.left
    }
}

/// An answer's body; the request is over when hyper drops it.
pub(super) struct Answer<B> {
    body: Option<B>,
    _running: Running,
}

impl<B> Answer<B> {
    /// The body of a service's answer, or none for a bare one.
    pub(super) fn new(body: Option<B>, running: Running) -> Self {
        Self { body, _running: running }
    }
}

impl<B: Body + Unpin> Body for Answer<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
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
