//! [`Streams`]: what a connection of HTTP/2 is at, as its frames tell.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    super::{Limits, backlog::Backlog, watchdog::IDLE},
    allowance::Allowance,
    frames::{self, CONTINUATION, DATA, Frames, GOAWAY, HEADERS, RST_STREAM},
    open::Open,
};

/// How often a connection may read before others have their turn. hyper goes on for as long as there is anything.
const READS_A_TURN: u32 = 16;

/// As how many further requests a head counts that is not whole with its first frame: hyper keeps up to a quarter of a MiB
/// for the fields of a few KiB. The usual head is one frame.
const UNFINISHED_HEAD: u32 = 32;

/// The requests of a connection that are not answered to the last byte. hyper tells none of this, so the frames are
/// read along, their headers alone. What is against the protocol ends the connection in hyper's hands.
#[derive(Debug)]
pub(in super::super) struct Streams {
    incoming: Frames,
    outgoing: Frames,
    open: Open,
    /// The highest number that a request has had: those of the next ones are higher.
    newest: u32,
    /// The head that is being read.
    head: Option<Head>,
    /// When the client was asked to go.
    left: Option<Instant>,
    allowance: Allowance,
    /// The connection has to end for the sake of others.
    given_up: bool,
    /// How often this turn may read yet.
    reads: u32,
}

/// A head on its way.
#[derive(Debug)]
struct Head {
    began: Instant,
    /// What of it is in the backlog, beside the request.
    held: u32,
}

impl Streams {
    /// Those of a connection that begins.
    pub(in super::super) fn new(now: Instant, backlog: Arc<Backlog>) -> Self {
        Self {
            incoming: Frames::of_client(),
            outgoing: Frames::of_server(),
            open: Open::new(now, backlog),
            newest: 0,
            head: None,
            left: None,
            allowance: Allowance::new(now),
            given_up: false,
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
        let Self { incoming, open, newest, head, allowance, .. } = self;
        incoming.read(bytes, |frame, whole| {
            if !whole {
                allowance.frame(now);
            }
            match frame.kind {
                HEADERS | CONTINUATION if whole && frame.ends_head() => {
                    open.held.remove(head.take().map_or(0, |head| head.held));
                }
                HEADERS if whole => {
                    if let Some(head) = head {
                        head.held = UNFINISHED_HEAD;
                        open.held.add(UNFINISHED_HEAD);
                    }
                }
                HEADERS => {
                    *head = Some(Head { began: now, held: 0 });
                    // Else these are trailers.
                    if frame.stream > *newest {
                        *newest = frame.stream;
                        open.begin(frame.stream, now);
                    }
                }
                RST_STREAM if whole && open.end(frame.stream, now) => allowance.reset(now),
                _ => {}
            }
        });
    }

    /// `bytes` went out.
    pub(in super::super) fn went(&mut self, bytes: &[u8], now: Instant) {
        let Self { outgoing, open, allowance, .. } = self;
        allowance.sent(bytes.len());
        outgoing.read(bytes, |frame, whole| match frame.kind {
            RST_STREAM if whole && open.end(frame.stream, now) => allowance.reset(now),
            DATA | HEADERS if whole && frame.ends_stream() && open.end(frame.stream, now) => allowance.answered(),
            DATA if !whole => open.moved(frame.stream, frame.length, now),
            DATA | HEADERS => open.moved(frame.stream, 0, now),
            _ => {}
        });
    }

    /// When the client had sent more frames than it may, if it has.
    pub(in super::super) fn overdrawn(&self) -> Option<Instant> {
        self.allowance.overdrawn()
    }

    /// The connection has to end for the sake of others: what it has in the backlog is theirs from now on.
    pub(in super::super) fn give_up(&mut self) {
        self.given_up = true;
        self.open.held.remove(self.held());
    }

    /// Whether [`give_up`](Self::give_up) was said.
    pub(in super::super) fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// What the client is told whose connection costs too much, where that does not fall into the midst of another frame.
    pub(in super::super) fn calming(&self) -> Option<[u8; GOAWAY]> {
        self.outgoing.is_between().then(|| frames::enhance_your_calm(self.newest))
    }

    /// Since when the client is waited for: for the rest of a head, or to take its answers at a decent rate. Where more is
    /// in the backlog than `share`, each answer that goes out has to move too.
    pub(in super::super) fn wait_since(&self, share: u32) -> Option<Instant> {
        let head = self.head.as_ref().map(|head| head.began);
        head.into_iter().chain(self.open.wait_since(share)).min()
    }

    /// What is in the backlog: the requests that are not answered to the last byte, and more for a head that is not
    /// whole.
    pub(in super::super) fn held(&self) -> u32 {
        self.open.held.requests()
    }

    /// Whether a request that has come is refused, as there are too many on all connections.
    pub(in super::super) fn is_refused(&self) -> bool {
        self.open.held.is_refused()
    }

    /// Whether a request has come.
    pub(in super::super) fn is_proven(&self) -> bool {
        self.newest > 0 && self.head.is_none()
    }

    /// Since when there is no request, if there is none.
    pub(in super::super) fn idle_since(&self) -> Option<Instant> {
        (self.open.is_empty() && self.head.is_none()).then(|| self.open.last_end())
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
        if let Some(head) = &self.head {
            return (head.began + limits.head_time, "slow head");
        }
        if let Some(due) = self.open.due(limits) {
            return (due, "stalled");
        }
        let idle = self.open.last_end();
        match self.left {
            Some(since) => (since.max(idle) + limits.linger_time, "no goodbye"),
            None => (idle + limits.idle_time, IDLE),
        }
    }
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

    /// A frame of an answer with a payload of 16,000 bytes.
    fn data(stream: u8) -> Vec<u8> {
        [[0, 0x3e, 0x80, DATA, 0, 0, 0, 0, stream].as_slice(), &[0; 16_000]].concat()
    }

    #[test]
    fn beyond_the_share_an_answer_waits_from_its_last_frame_on() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let (mut streams, _) = streams(now);
        streams.came(&[frame(HEADERS, END, 1), frame(HEADERS, END, 3)].concat(), now);
        assert_eq!((streams.wait_since(1), streams.held()), (None, 2));
        streams.went(&frame(HEADERS, 0x4, 1), later(1));
        streams.went(&[&frame(HEADERS, 0x4, 3), &*data(3)].concat(), later(2));
        assert_eq!(streams.wait_since(1), Some(later(1)));
        streams.went(&data(1), later(3));
        assert_eq!(streams.wait_since(1), Some(later(2)));
        streams.went(&data(3), later(4));
        assert_eq!(streams.wait_since(1), Some(later(3)));
        streams.went(&frame(DATA, 0x1, 3), later(5));
        assert!(streams.wait_since(1) > Some(later(5)));
        assert_eq!(streams.held(), 1);
    }

    #[test]
    fn within_the_share_a_rate_is_enough_and_a_byte_now_and_then_is_not() {
        let begin = Instant::now();
        let frames = |kind, flags| [frame(kind, flags, 1), frame(kind, flags, 3)].concat();
        let [(mut fast, _), (mut slow, _)] = [streams(begin), streams(begin)];
        for streams in [&mut fast, &mut slow] {
            streams.came(&frames(HEADERS, END), begin);
            streams.went(&frames(HEADERS, 0x4), begin);
        }
        let mut now = begin;
        for _ in 0..50 {
            now += Duration::from_millis(40);
            fast.went(&data(1), now);
            [1, 3].iter().for_each(|stream| slow.went(&[0, 0, 1, DATA, 0, 0, 0, 0, *stream, 0], now));
        }
        assert!(fast.wait_since(2) > Some(now));
        assert_eq!(fast.wait_since(1), Some(begin));
        assert_eq!(slow.wait_since(2), Some(begin + Duration::from_millis(50)));
    }

    #[test]
    fn a_head_that_is_not_whole_counts_for_many_until_it_is() {
        let now = Instant::now();
        let (mut streams, backlog) = streams(now);
        streams.came(&frame(HEADERS, 0x1, 1)[..8], now);
        assert_eq!(streams.wait_since(100), None);
        streams.came(&[1], now);
        assert_eq!((streams.wait_since(100), streams.held()), (Some(now), 1 + UNFINISHED_HEAD));
        streams.came(&frame(CONTINUATION, 0, 1), now);
        assert_eq!(backlog.excess(), 1 + UNFINISHED_HEAD);
        streams.came(&frame(CONTINUATION, 0x4, 1), now);
        assert_eq!((streams.wait_since(100), backlog.excess()), (None, 1));
        // Trailers.
        streams.came(&frame(HEADERS, 0x1, 1), now);
        assert_eq!((streams.wait_since(100), backlog.excess()), (Some(now), 1 + UNFINISHED_HEAD));
        drop(streams);
        assert_eq!(backlog.excess(), 0);
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
