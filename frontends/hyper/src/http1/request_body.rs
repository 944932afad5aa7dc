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

pub(crate) struct RequestBody {
    body: Incoming,
    /// How many bytes may still come.
    left: u64,
    /// Its length, where the head says so.
    pub(super) length: Option<u64>,
    /// When more of it came, or its request.
    pub(super) moved: Instant,
    pub(super) progress: Progress,
}

pub(super) enum Progress {
    /// It is thrown away as it comes.
    Discarding,
    /// The service wants it, and this has come of it.
    Collecting(BytesMut),
    /// The service wants it, and it has ended; the status where it has broken off.
    Collected(Result<Bytes, StatusCode>),
    /// It is not read, so that the connection ends with the response: it is too long, or comes only when asked for. It is
    /// kept, since hyper would close the connection and cut the response short if the client has asked for an upgrade.
    Unread,
}

impl RequestBody {
    /// A body that the service wants, or one that is thrown away; `None` where there is nothing to read.
    pub(super) fn new(body: Incoming, headers: &HeaderMap, is_wanted: bool, limits: &Limits) -> Option<Self> {
        if body.is_end_stream() {
            return None;
        }
        let limit = if is_wanted { limits.body_bytes } else { limits.drained_bytes };
        let size = body.size_hint();
        let progress = match is_wanted {
            _ if size.lower() > limit => Progress::Unread,
            true => Progress::Collecting(BytesMut::new()),
            // A client that waits for `100 Continue` would get it as soon as the body is asked for.
            false if headers.contains_key(EXPECT) => Progress::Unread,
            false => Progress::Discarding,
        };
        Some(Self { body, left: limit, length: size.exact(), moved: Instant::now(), progress })
    }

    /// Reads what has come until `last_io`. Tells whether the body has ended now, in good order or not.
    pub(super) fn read(&mut self, cx: &mut Context<'_>, last_io: Instant) -> bool {
        while let Progress::Discarding | Progress::Collecting(_) = self.progress {
            if self.body.is_end_stream() {
                return self.end(Ok(()));
            }
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else { return false };
            let data = match frame {
                None => return self.end(Ok(())),
                Some(Err(_)) => return self.end(Err(StatusCode::BAD_REQUEST)),
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            let Some(left) = self.left.checked_sub(data.len() as u64) else {
                self.progress = Progress::Unread;
                return false;
            };
            self.left = left;
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
            self.progress = Progress::Collected(outcome.map(|()| mem::take(collected).freeze()));
        }
        true
    }
}
