//! [`Streams`]: what a connection of HTTP/2 is at, as its frames tell.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    super::{
        Limits,
        backlog::{Backlog, Entry},
        watchdog::IDLE,
    },
    allowance::Allowance,
    frames::{self, CONTINUATION, DATA, Frame, Frames, GOAWAY, HEADERS, RST_STREAM},
};

/// How often a connection may read before others have their turn. hyper goes on for as long as there is anything.
const READS_A_TURN: u32 = 16;

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
    allowance: Allowance,
    backlog: Arc<Backlog>,
    /// How often this turn may read yet.
    reads: u32,
}

/// A request on its way.
#[derive(Debug)]
struct Stream {
    number: u32,
    began: Instant,
    /// When more of its answer went out.
    moved: Instant,
    /// Its answer has begun to go out.
    answered: bool,
    _entry: Entry,
}

impl Streams {
    /// Those of a connection that begins.
    pub(in super::super) fn new(now: Instant, backlog: Arc<Backlog>) -> Self {
        Self {
            incoming: Frames::of_client(),
            outgoing: Frames::of_server(),
            open: Vec::new(),
            newest: 0,
            head: None,
            idle: now,
            left: None,
            allowance: Allowance::new(now),
            backlog,
            reads: READS_A_TURN,
        }
    }

    /// The connection has its turn.
    pub(in super::super) fn begin_turn(&mut self) {
        self.reads = READS_A_TURN;
    }

    /// Whether the turn is over, as far as it is for reading.
    pub(in super::super) fn ends_turn(&self) -> bool {
        self.reads == 0
    }

    /// `bytes` came in.
    pub(in super::super) fn came(&mut self, bytes: &[u8], now: Instant) {
        self.reads = self.reads.saturating_sub(1);
        let Self { incoming, open, newest, head, idle, allowance, backlog, .. } = self;
        incoming.read(bytes, |frame, whole| {
            if !whole {
                allowance.frame(now);
            }
            match frame.kind {
                HEADERS | CONTINUATION if whole && frame.ends_head() => *head = None,
                HEADERS if !whole => {
                    *head = Some(now);
                    // Else these are trailers.
                    if frame.stream > *newest {
                        *newest = frame.stream;
                        let (number, _entry) = (frame.stream, backlog.enter());
                        open.push(Stream { number, began: now, moved: now, answered: false, _entry });
                    }
                }
                RST_STREAM if whole && close(open, frame, idle, now) => allowance.reset(now),
                _ => {}
            }
        });
    }

    /// `bytes` went out.
    pub(in super::super) fn went(&mut self, bytes: &[u8], now: Instant) {
        let Self { outgoing, open, idle, allowance, .. } = self;
        allowance.sent(bytes.len());
        outgoing.read(bytes, |frame, whole| match frame.kind {
            RST_STREAM if whole && close(open, frame, idle, now) => allowance.reset(now),
            DATA | HEADERS if whole && frame.ends_stream() && close(open, frame, idle, now) => allowance.answered(),
            DATA | HEADERS => {
                if let Some(stream) = open.iter_mut().find(|stream| stream.number == frame.stream) {
                    stream.moved = now;
                    stream.answered = true;
                }
            }
            _ => {}
        });
    }

    /// When the client had sent more frames than it may, if it has.
    pub(in super::super) fn overdrawn(&self) -> Option<Instant> {
        self.allowance.overdrawn()
    }

    /// What the client is told that has sent too many frames, where that does not fall into the midst of another frame.
    pub(in super::super) fn calming(&self) -> Option<[u8; GOAWAY]> {
        self.outgoing.is_between().then(|| frames::enhance_your_calm(self.newest))
    }

    /// Since when an answer has not moved that has begun to go out, of all the one that waits longest.
    pub(in super::super) fn answers_wait(&self) -> Option<Instant> {
        self.open.iter().filter(|stream| stream.answered).map(|stream| stream.moved).min()
    }

    /// How many requests are not answered to the last byte.
    pub(in super::super) fn requests(&self) -> usize {
        self.open.len()
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

/// The frame ends its stream. Tells whether there was a request on it.
fn close(open: &mut Vec<Stream>, frame: Frame, idle: &mut Instant, now: Instant) -> bool {
    let before = open.len();
    open.retain(|stream| stream.number != frame.stream);
    let was_open = open.len() < before;
    if was_open && open.is_empty() {
        *idle = now;
    }
    was_open
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const END: u8 = 0x5;

    fn frame(kind: u8, flags: u8, stream: u8) -> [u8; 9] {
        [0, 0, 0, kind, flags, 0, 0, 0, stream]
    }

    /// A connection whose client has sent its preface, and the backlog that it is counted in.
    fn streams(now: Instant) -> (Streams, Arc<Backlog>) {
        let backlog = Arc::new(Backlog::new(&Limits { unanswered: 0, ..Limits::default() }));
        let mut streams = Streams::new(now, backlog.clone());
        streams.came(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", now);
        (streams, backlog)
    }

    #[test]
    fn an_answer_waits_from_its_last_frame_on() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let (mut streams, _) = streams(now);
        streams.came(&[frame(HEADERS, END, 1), frame(HEADERS, END, 3)].concat(), now);
        assert_eq!((streams.answers_wait(), streams.requests()), (None, 2));
        streams.went(&frame(HEADERS, 0x4, 1), later(1));
        streams.went(&frame(HEADERS, 0x4, 3), later(2));
        assert_eq!(streams.answers_wait(), Some(later(1)));
        streams.went(&frame(DATA, 0, 1), later(3));
        assert_eq!(streams.answers_wait(), Some(later(2)));
        streams.went(&frame(DATA, 0x1, 3), later(4));
        assert_eq!((streams.answers_wait(), streams.requests()), (Some(later(3)), 1));
    }

    #[test]
    fn requests_are_in_the_backlog_until_they_are_answered_or_given_up() {
        let now = Instant::now();
        let (mut streams, backlog) = streams(now);
        [1, 3, 5, 7].iter().for_each(|number| streams.came(&frame(HEADERS, END, *number), now));
        assert_eq!(backlog.excess(), 4);
        streams.went(&frame(HEADERS, END, 1), now);
        streams.came(&frame(RST_STREAM, 0, 3), now);
        assert_eq!(backlog.excess(), 2);
        drop(streams);
        assert_eq!(backlog.excess(), 0);
    }

    #[test]
    fn a_turn_ends_however_much_there_is_to_read() {
        let now = Instant::now();
        let (mut streams, _) = streams(now);
        streams.begin_turn();
        for _ in 0..READS_A_TURN {
            assert!(!streams.ends_turn());
            streams.came(&frame(HEADERS, END, 1), now);
        }
        assert!(streams.ends_turn());
        streams.begin_turn();
        assert!(!streams.ends_turn());
    }

    #[test]
    fn nothing_is_said_in_the_midst_of_a_frame() {
        let now = Instant::now();
        let (mut streams, _) = streams(now);
        streams.came(&frame(HEADERS, END, 3), now);
        streams.went(&[0, 0, 2, DATA, 0, 0, 0, 0, 3, 1], now);
        assert_eq!(streams.calming(), None);
        streams.went(&[2], now);
        assert_eq!(streams.calming(), Some([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 11]));
    }
}
