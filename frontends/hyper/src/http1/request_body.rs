//! [`RequestBody`]: the body of a request on HTTP/1, which is read beside the response and mostly thrown away.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::header::EXPECT;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use tokio::time::Instant;

use crate::Limits;

/// A body that is read to its end, so that the next request can be read.
pub(crate) struct RequestBody {
    body: Incoming,
    /// How many bytes may still come.
    left: u64,
    /// Its length, where the head says so.
    pub(super) length: Option<u64>,
    /// When more of it came, or its request.
    pub(super) moved: Instant,
    progress: Progress,
}

enum Progress {
    /// It is thrown away as it comes.
    Discarding,
    /// The service wants it, and this has come of it.
    Collecting(BytesMut),
    /// The service wants it, and it has ended; the status where it has broken off.
    Collected(Result<Bytes, StatusCode>),
    /// It is not read, so that the connection ends with the response: it is too long, or comes only when asked for.
    ///
    /// Such a body is kept all the same: dropped, hyper closes the connection by itself, and cuts the response short if the
    /// client has asked for an upgrade.
    Unread,
}

impl RequestBody {
    /// A body that the service wants, or one that is thrown away; `None` where there is nothing to read.
    pub(super) fn new(body: Incoming, headers: &HeaderMap, is_wanted: bool, limits: &Limits) -> Option<Self> {
        if body.is_end_stream() {
            return None;
        }
        let (limit, progress) = match is_wanted {
            true => (limits.body_bytes, Progress::Collecting(BytesMut::new())),
            false => (limits.drained_bytes, Progress::Discarding),
        };
        let size = body.size_hint();
        // A client that waits for `100 Continue` would get it as soon as the body is asked for.
        let is_unread = size.lower() > limit || (!is_wanted && headers.contains_key(EXPECT));
        let progress = if is_unread { Progress::Unread } else { progress };
        Some(Self { body, left: limit, length: size.exact(), moved: Instant::now(), progress })
    }

    /// Reads what has come until `last_io`. Tells whether the body has ended now, in good order or not.
    pub(super) fn read(&mut self, cx: &mut Context<'_>, last_io: Instant) -> bool {
        while matches!(self.progress, Progress::Discarding | Progress::Collecting(_)) {
            if self.body.is_end_stream() {
                return self.end(Ok(()));
            }
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending => return false,
                Poll::Ready(None) => return self.end(Ok(())),
                Poll::Ready(Some(Err(_))) => return self.end(Err(StatusCode::BAD_REQUEST)),
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if data.len() as u64 > self.left {
                self.progress = Progress::Unread;
                return false;
            }
            self.left -= data.len() as u64;
            if !data.is_empty() {
                self.moved = last_io;
            }
            if let Progress::Collecting(collected) = &mut self.progress {
                collected.extend_from_slice(&data);
            }
        }
        false
    }

    fn end(&mut self, outcome: Result<(), StatusCode>) -> bool {
        if let Progress::Collecting(collected) = &mut self.progress {
            let collected = mem::take(collected).freeze();
            self.progress = Progress::Collected(outcome.map(|()| collected));
        }
        true
    }

    /// What the service wants, once it is there, or the status that refuses the request.
    pub(super) fn collected(&self) -> Option<Result<Bytes, StatusCode>> {
        match &self.progress {
            Progress::Collected(outcome) => Some(outcome.clone()),
            Progress::Unread => Some(Err(StatusCode::PAYLOAD_TOO_LARGE)),
            Progress::Discarding | Progress::Collecting(_) => None,
        }
    }

    /// Whether nobody wants it.
    pub(super) fn is_discarded(&self) -> bool {
        matches!(self.progress, Progress::Discarding)
    }

    /// Whether it is not read, so that the connection ends with the response.
    pub(super) fn is_unread(&self) -> bool {
        matches!(self.progress, Progress::Unread)
    }
}
