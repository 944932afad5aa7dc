//! [`Streams`]: what a connection of HTTP/2 is at, as its frames tell.

use tokio::time::Instant;

use super::{
    super::{Limits, watchdog::IDLE},
    frames::{CONTINUATION, DATA, Frame, Frames, HEADERS, RST_STREAM},
};

/// The requests of a connection that are not answered to the last byte. hyper tells none of this, so the frames are
/// read along, their headers alone. What is against the protocol ends the connection in hyper's hands.
#[derive(Debug)]
pub(in super::super) struct Streams {
    incoming: Frames,
    outgoing: Frames,
    open: Vec<Stream>,
    /// The highest number that a request has had: those of the next ones are higher.
    newest: u32,
    /// When the head that is being read began.
    head: Option<Instant>,
    /// When the last request ended; at first, when the connection began.
    idle: Instant,
    /// When the client was asked to go.
    left: Option<Instant>,
}

/// A request on its way.
#[derive(Debug)]
struct Stream {
    number: u32,
    began: Instant,
    /// When more of its answer went out.
    moved: Instant,
}

impl Streams {
    /// Those of a connection that begins.
    pub(in super::super) fn new(now: Instant) -> Self {
        let (incoming, outgoing) = (Frames::of_client(), Frames::of_server());
        Self { incoming, outgoing, open: Vec::new(), newest: 0, head: None, idle: now, left: None }
    }

    /// `bytes` came in.
    pub(in super::super) fn came(&mut self, bytes: &[u8], now: Instant) {
        let Self { incoming, open, newest, head, idle, .. } = self;
        incoming.read(bytes, |frame, whole| match frame.kind {
            HEADERS | CONTINUATION if whole && frame.ends_head() => *head = None,
            HEADERS if !whole => {
                *head = Some(now);
                // Else these are trailers.
                if frame.stream > *newest {
                    *newest = frame.stream;
                    open.push(Stream { number: frame.stream, began: now, moved: now });
                }
            }
            RST_STREAM if whole => close(open, frame, idle, now),
            _ => {}
        });
    }

    /// `bytes` went out.
    pub(in super::super) fn went(&mut self, bytes: &[u8], now: Instant) {
        let Self { outgoing, open, idle, .. } = self;
        outgoing.read(bytes, |frame, whole| match frame.kind {
            RST_STREAM if whole => close(open, frame, idle, now),
            DATA | HEADERS if whole && frame.ends_stream() => close(open, frame, idle, now),
            DATA | HEADERS => {
                if let Some(stream) = open.iter_mut().find(|stream| stream.number == frame.stream) {
                    stream.moved = now;
                }
            }
            _ => {}
        });
    }

    /// Whether a request has come.
    pub(in super::super) fn is_proven(&self) -> bool {
        self.newest > 0 && self.head.is_none()
    }

    /// Since when there is no request, if there is none.
    pub(in super::super) fn idle_since(&self) -> Option<Instant> {
        (self.open.is_empty() && self.head.is_none()).then_some(self.idle)
    }

    /// Whether the client was asked to go.
    pub(in super::super) fn is_leaving(&self) -> bool {
        self.left.is_some()
    }

    /// The client is asked to go.
    pub(in super::super) fn leave(&mut self, now: Instant) {
        self.left.get_or_insert(now);
    }

    /// When the connection has been silent or slow for too long, and at what. PING and what else is no request does
    /// not count.
    pub(in super::super) fn deadline(&self, limits: &Limits) -> (Instant, &'static str) {
        if let Some(since) = self.head {
            return (since + limits.head_time, "slow head");
        }
        let due = |stream: &Stream| (stream.moved + limits.stall_time).min(stream.began + limits.request_time);
        if let Some(due) = self.open.iter().map(due).min() {
            return (due, "stalled");
        }
        match self.left {
            Some(since) => (since.max(self.idle) + limits.linger_time, "no goodbye"),
            None => (self.idle + limits.idle_time, IDLE),
        }
    }
}

fn close(open: &mut Vec<Stream>, frame: Frame, idle: &mut Instant, now: Instant) {
    let before = open.len();
    open.retain(|stream| stream.number != frame.stream);
    if open.is_empty() && before > 0 {
        *idle = now;
    }
}
