//! [`Http1State`]: the part of a connection's state that is particular to HTTP/1.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use tokio::time::Instant;

use super::line_tracker::LineTracker;
use super::request_body::{Progress, RequestBody};
use crate::close_reason::Interrupt;
use crate::overload::Stage;
use crate::{CloseReason, Timeouts};

/// How much a connection may read before others have their turn. hyper goes on for as long as there is anything.
const BYTES_A_TURN: usize = 64 * 1024;

/// What hyper has room for when it begins to read a head. It takes more for a larger one, and keeps that.
const USUAL_BUFFER: usize = 8 * 1024;

pub(crate) struct Http1State {
    /// A request is with the service, or its response's body with hyper.
    running: bool,
    /// When the last request began; at first, when the connection was accepted.
    began: Instant,
    /// When the head that is being read began.
    head: Option<Instant>,
    /// Bytes read behind the last head, or of the first one, as far as heads are written in the usual way.
    behind_head: usize,
    lines: LineTracker,
    /// A request line is longer than any head may be.
    long_line: bool,
    /// The body of the last request, as long as more of it is to come.
    pub(super) body: Option<RequestBody>,
    /// When hyper had the whole of the last response, and whether none of it has gone out since.
    ended: (Instant, bool),
    /// What was read in this turn of the connection.
    turn: usize,
    /// What hyper had room for when it last wanted to read.
    read_buffer: usize,
}

impl Http1State {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            running: false,
            began: now,
            head: None,
            behind_head: 0,
            lines: LineTracker::default(),
            long_line: false,
            body: None,
            ended: (now, false),
            turn: 0,
            read_buffer: 0,
        }
    }

    /// So many bytes that were read before stand behind all that was answered.
    pub(crate) fn begin_head_with(&mut self, bytes: usize, last_io: Instant) {
        self.head = Some(last_io);
        self.behind_head = bytes;
    }

    /// `bytes` came in; `blocked` where the socket takes no more of a response.
    pub(crate) fn received(&mut self, bytes: &[u8], now: Instant, blocked: bool) {
        self.turn += bytes.len();
        if self.head.is_none() && !self.running && !blocked && self.body.is_none() {
            // Whatever heads in unusual ways have made of the bytes.
            (self.head, self.behind_head) = (Some(now), 0);
        }
        self.behind_head += bytes.len();
        self.lines.read(bytes);
    }

    /// How much may be read where hyper has room for `size`; 0 where others have their turn before, or where a request line is
    /// `longest`, so that the connection ends as soon as what came before is answered.
    pub(crate) fn room(&mut self, size: usize, longest: usize, cx: &mut Context<'_>, last_io: Instant) -> usize {
        self.read_buffer = size;
        if self.turn >= BYTES_A_TURN {
            cx.waker().wake_by_ref();
            return 0;
        }
        if self.lines.line == 0 {
            return size;
        }
        self.drain(cx, last_io);
        // In the first line of a head, no line has ended since it began; the end of a body may stand before it.
        if self.head.is_none() || self.lines.line < self.behind_head {
            return size;
        }
        let room = longest.saturating_sub(self.behind_head);
        self.long_line = room == 0;
        size.min(room)
    }

    /// A request's head was read, usually of `length` bytes. Tells whether another request may have been read behind it.
    pub(crate) fn begin(&mut self, length: usize, body: Option<RequestBody>, last_io: Instant) -> bool {
        let is_pipelined = self.behind_head != length || !self.lines.is_empty_line();
        self.behind_head = self.behind_head.saturating_sub(length);
        (self.running, self.began, self.head, self.body) = (true, last_io, None, body);
        if self.body.is_none() {
            self.note_next_head(None, last_io);
        }
        is_pipelined
    }

    pub(crate) fn end_response(&mut self, now: Instant) {
        self.running = false;
        self.ended = (now, true);
        // The next head could not be read any earlier than now.
        self.head = self.head.map(|_| now);
    }

    /// Something goes out. Tells whether it may be of a response, and when hyper had the whole of that, which it sends at once.
    pub(crate) fn sends(&mut self) -> (bool, Option<Instant>) {
        let ended = std::mem::take(&mut self.ended.1).then_some(self.ended.0);
        (ended.is_some() || self.running, ended)
    }

    /// The connection has had its turn. Tells why there can be no further response, where the last one is out.
    pub(crate) fn end_turn(&mut self, cx: &mut Context<'_>, last_io: Instant) -> Option<Interrupt> {
        self.turn = 0;
        self.drain(cx, last_io);
        match self.running {
            true => None,
            false if self.long_line => Some(Interrupt::LongLine),
            false => self.has_unread_body().then_some(Interrupt::Close(CloseReason::UnreadBody)),
        }
    }

    /// Reads what has come of a body.
    fn drain(&mut self, cx: &mut Context<'_>, last_io: Instant) {
        let Some(body) = self.body.as_mut() else { return };
        if !body.read(cx, last_io) {
            return;
        }
        let length = body.length;
        self.behind_head = match length {
            Some(length) => self.behind_head.saturating_sub(usize::try_from(length).unwrap_or(usize::MAX)),
            // Chunks are not counted, but end with a line.
            None => self.lines.line,
        };
        self.body.take_if(|body| matches!(body.progress, Progress::Discarding));
        self.note_next_head(length, last_io);
    }

    /// The whole body that the service wants, or the status that refuses the request.
    pub(crate) fn poll_wanted(&mut self, cx: &mut Context<'_>, last_io: Instant) -> Poll<Result<Bytes, StatusCode>> {
        self.drain(cx, last_io);
        let outcome = match self.body.as_ref().map(|body| &body.progress) {
            None => Ok(Bytes::new()),
            Some(Progress::Collected(outcome)) => outcome.clone(),
            Some(Progress::Unread) => Err(StatusCode::PAYLOAD_TOO_LARGE),
            Some(Progress::Discarding | Progress::Collecting(_)) => return Poll::Pending,
        };
        if outcome.is_ok() {
            self.body = None;
        }
        Poll::Ready(outcome)
    }

    /// Whether the connection ends with the response, since the body is not read.
    pub(crate) fn has_unread_body(&self) -> bool {
        self.body.as_ref().is_some_and(|body| matches!(body.progress, Progress::Unread))
    }

    /// Whether a request is being answered, or its head has begun to come.
    pub(crate) fn is_reading_or_answering(&self) -> bool {
        self.running || self.head.is_some()
    }

    /// When the client or the service will have taken too long, and what is to be done then.
    pub(crate) fn deadline(&self, last_io: Instant, blocked: bool, timeouts: &Timeouts) -> (Instant, Interrupt) {
        let stalled =
            |moved: Instant| ((moved + timeouts.stall).min(self.began + timeouts.request), CloseReason::Stalled);
        let (deadline, reason) = if self.running || blocked {
            stalled(last_io)
        } else if let Some(body) = &self.body {
            // Bytes alone do not count. Once the response is out, hyper does not report the end of trailers, and a slow head
            // behind them must not pass for a body that moves.
            stalled(body.moved)
        } else if let Some(since) = self.head {
            (since + timeouts.head, CloseReason::SlowHead)
        } else if self.read_buffer > USUAL_BUFFER && timeouts.large_buffer < timeouts.idle {
            return (last_io + timeouts.large_buffer, Interrupt::LargeBuffer);
        } else {
            (last_io + timeouts.idle, CloseReason::Idle)
        };
        (deadline, Interrupt::Close(reason))
    }

    /// What the server waits for, unless a request is with the service.
    pub(crate) fn waits(&self, last_io: Instant) -> Option<(Stage, Instant)> {
        match &self.body {
            // The service gets the request only with its body.
            Some(RequestBody { progress: Progress::Collecting(_), .. }) => Some((Stage::Body, self.began)),
            _ if self.running => None,
            Some(_) => Some((Stage::Body, self.ended.0)),
            None => Some((Stage::Waiting, self.head.unwrap_or(last_io))),
        }
    }

    /// A message has ended, whose body was of that length if it is known: notes whether the next head has begun. Behind a head
    /// that is written in an unusual way the count is wrong by a few bytes, and an idle connection may be timed as a head.
    fn note_next_head(&mut self, length: Option<u64>, last_io: Instant) {
        let has_begun = if length.is_some() { self.behind_head > 0 } else { !self.lines.is_empty_line() };
        self.head = has_begun.then_some(last_io);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_turn_ends_however_much_there_is_to_read() {
        let now = Instant::now();
        let (mut state, mut cx) = (Http1State::new(now), Context::from_waker(Waker::noop()));
        for _ in 0..2 {
            state.received(&[b'x'; BYTES_A_TURN - 1], now, false);
            assert_eq!(state.room(1, usize::MAX, &mut cx, now), 1);
            state.received(b"x", now, false);
            assert_eq!(state.room(1, usize::MAX, &mut cx, now), 0);
            assert_eq!(state.end_turn(&mut cx, now), None);
        }
    }
}
