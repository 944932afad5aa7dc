//! What a connection has done lately, and what it is at.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use tokio::time::Instant;

use super::{
    Counts, Limits,
    backlog::Backlog,
    body::Unwanted,
    claim::{Claim, Standing},
    delivery::Delivery,
    http2::Streams,
    tail::Tail,
    watchdog::{IDLE, LONG_LINE},
};

/// How much a connection of HTTP/1 may read before others have their turn. hyper goes on for as long as there is anything,
/// and the largest heads cost most.
const BYTES_A_TURN: usize = 64 * 1024;

/// The record that a connection's stream and service write and its watchdog reads.
///
/// All three run in the connection's task, so nobody waits for the lock: it is here because hyper owns the stream and
/// the service. Only a server that is full looks in from outside, for a connection that can give way.
pub(super) struct Activity {
    state: Mutex<State>,
    /// Apart from the rest, because every flush asks.
    stopping: AtomicBool,
    /// Bytes of HTTP/1 that were read in this turn of the connection.
    turn: AtomicUsize,
    counts: Arc<Counts>,
}

struct State {
    /// When the last byte went in or out; at first, when the connection was accepted.
    moved: Instant,
    /// When the head that is being read began.
    head: Option<Instant>,
    /// A request is with the service, or its answer's body with hyper.
    running: bool,
    /// When the request began that was the last to begin.
    began: Instant,
    /// A request was answered since the last byte went out.
    unsent: bool,
    /// How far the client is that has to shake hands first.
    handshake: Handshake,
    /// The connection's streams, where it speaks HTTP/2.
    streams: Option<Box<Streams>>,
    /// A request has come.
    proven: bool,
    /// The connection is to end, for another one's sake.
    gives_way: bool,
    /// The connection's task.
    task: Option<Waker>,
    /// A body that is being thrown away.
    unwanted: Option<Unwanted>,
    /// When more of it came, or its request.
    unwanted_moved: Instant,
    /// Its length, where that is known.
    unwanted_length: Option<u64>,
    /// When hyper had the whole answer to its request.
    unwanted_since: Instant,
    /// How well the socket takes what goes out.
    delivery: Delivery,
    /// When our side was closed.
    closed: Option<Instant>,
    /// That was for want of time.
    late: bool,
    /// Bytes read behind the last head, or of the first one, as far as heads are written in the usual way.
    behind_head: u64,
    /// How they end.
    tail: Tail,
    /// A request line is longer than any head may be.
    long_line: bool,
    /// Bytes have arrived that were not read yet; only kept up to date while stopping.
    unread: bool,
}

/// How far a client is that has to shake hands before it can ask for anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    /// There is none, or a request has begun to come after it.
    None,
    /// Nothing has come yet since the accept.
    Awaited(Instant),
    /// It goes on since then.
    Running(Instant),
    /// It was over then, and nothing has come since.
    Done(Instant),
}

impl Activity {
    /// The record of a connection that was just accepted.
    pub(super) fn new(counts: Arc<Counts>) -> Arc<Self> {
        Self::beginning(Instant::now(), Handshake::None, counts)
    }

    /// The record of a connection that was just accepted, and begins with a handshake.
    pub(super) fn with_handshake(counts: Arc<Counts>) -> Arc<Self> {
        let now = Instant::now();
        Self::beginning(now, Handshake::Awaited(now), counts)
    }

    fn beginning(now: Instant, handshake: Handshake, counts: Arc<Counts>) -> Arc<Self> {
        let state = State {
            moved: now,
            head: None,
            running: false,
            began: now,
            unsent: false,
            handshake,
            streams: None,
            proven: false,
            gives_way: false,
            task: None,
            unwanted: None,
            unwanted_moved: now,
            unwanted_length: None,
            unwanted_since: now,
            delivery: Delivery::default(),
            closed: None,
            late: false,
            behind_head: 0,
            tail: Tail::default(),
            long_line: false,
            unread: false,
        };
        Arc::new(Self { state: Mutex::new(state), stopping: AtomicBool::new(false), turn: AtomicUsize::new(0), counts })
    }

    /// What is counted of all connections.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something of a handshake came in.
    pub(super) fn greeted(&self) {
        let mut state = self.state();
        if let Handshake::Awaited(since) = state.handshake {
            state.handshake = Handshake::Running(since);
        }
    }

    /// The handshake is over; HTTP/2 was chosen, with requests that are counted in the backlog, or not.
    pub(super) fn shook_hands(&self, http2: Option<Arc<Backlog>>) {
        let mut state = self.state();
        state.moved = Instant::now();
        state.handshake = Handshake::Done(state.moved);
        state.streams = http2.map(|backlog| Box::new(Streams::new(state.moved, backlog)));
    }

    /// The connection has its turn, on HTTP/1.
    pub(super) fn begin_turn(&self) {
        self.turn.store(0, Ordering::Relaxed);
    }

    /// Whether the turn is over, as far as it is for reading.
    pub(super) fn ends_turn(&self) -> bool {
        self.turn.load(Ordering::Relaxed) >= BYTES_A_TURN
    }

    /// `bytes` of HTTP came in.
    pub(super) fn read(&self, bytes: &[u8]) {
        let mut state = self.state();
        let now = Instant::now();
        state.handshake = Handshake::None;
        if let Some(streams) = &mut state.streams {
            streams.came(bytes, now);
            if streams.is_proven() {
                state.proven = true;
            }
            return;
        }
        self.turn.fetch_add(bytes.len(), Ordering::Relaxed);
        state.moved = now;
        if state.head.is_none() && !state.is_busy() {
            state.head = Some(now);
            // Whatever heads in unusual ways have made of it.
            state.behind_head = 0;
        }
        state.behind_head += bytes.len() as u64;
        state.tail.read(bytes);
    }

    /// How much of a request line may still be read, where one of `most` bytes can be part of a head that is read. With
    /// none left the connection ends, as soon as what came before is answered.
    pub(super) fn line_room(&self, most: usize, cx: &mut Context<'_>) -> usize {
        let mut state = self.state();
        state.drain(cx);
        // In the first line of a head, no line has ended since it began; the end of a body may stand before it.
        if state.head.is_none() || state.tail.line() < state.behind_head {
            return usize::MAX;
        }
        let room = (most as u64).saturating_sub(state.behind_head);
        state.long_line = room == 0;
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// A request's head was read, usually of `length` bytes, with a body behind it or not. Tells also whether certainly
    /// nothing was read behind the head.
    pub(super) fn begin(self: &Arc<Self>, length: usize, unwanted: Option<Unwanted>) -> (Running, bool) {
        let mut state = self.state();
        let alone = state.behind_head == length as u64 && state.tail.is_empty_line();
        state.behind_head = state.behind_head.saturating_sub(length as u64);
        state.running = true;
        state.began = state.moved;
        state.proven = true;
        state.gives_way = false;
        state.unwanted_length = unwanted.as_ref().and_then(Unwanted::length);
        state.unwanted = unwanted;
        state.unwanted_moved = state.moved;
        state.head = None;
        if state.unwanted.is_none() {
            state.note_next_head();
        }
        (Running(self.clone()), alone)
    }

    /// `bytes` went out through the socket. Those that are of no answer, but of TLS itself, keep no connection alive.
    pub(super) fn wrote(&self, bytes: usize) {
        let mut state = self.state();
        let now = Instant::now();
        if state.running || state.delivery.is_blocked() || state.unsent {
            state.moved = now;
        }
        state.delivery.take(bytes, now);
        state.unsent = false;
    }

    /// `bytes` of HTTP/2 went out, as far as the transport is concerned.
    pub(super) fn sent(&self, bytes: &[u8]) {
        if let Some(streams) = &mut self.state().streams {
            streams.went(bytes, Instant::now());
        }
    }

    /// Bytes that came after our side was closed were thrown away.
    pub(super) fn discarded(&self) {
        self.state().moved = Instant::now();
    }

    /// The socket took no byte of an answer.
    pub(super) fn blocked(&self) {
        self.state().delivery.block(Instant::now());
    }

    /// Our side of the connection was closed.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.moved = Instant::now();
        state.closed = Some(state.moved);
    }

    /// A deadline has ended the connection: nothing that still comes makes it last longer.
    pub(super) fn set_late(&self) {
        self.state().late = true;
    }

    /// Whether our side of the connection was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.state().closed.is_some()
    }

    /// From now on the connection ends as soon as it has nothing to do.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the server stops.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Whether bytes have arrived at the socket that hyper has not read.
    pub(super) fn set_unread(&self, unread: bool) {
        self.state().unread = unread;
    }

    /// What [`set_unread`](Self::set_unread) said last.
    pub(super) fn has_unread(&self) -> bool {
        self.state().unread
    }

    /// Throws away what has come of an unwanted body.
    pub(super) fn drain(&self, cx: &mut Context<'_>) {
        self.state().drain(cx);
    }

    /// Whether the connection cannot go on after this request.
    pub(super) fn is_hopeless(&self) -> bool {
        self.state().is_hopeless()
    }

    /// Why there can be no further answer, where the last one is out.
    pub(super) fn is_over(&self) -> Option<&'static str> {
        let state = self.state();
        if state.running || state.delivery.is_blocked() || state.closed.is_some() {
            None
        } else if state.long_line {
            Some(LONG_LINE)
        } else {
            state.is_hopeless().then_some("unread body")
        }
    }

    /// Whether a body, or more of it, is to come.
    pub(super) fn expects_body(&self) -> bool {
        self.state().unwanted.is_some()
    }

    /// Since when nothing has been on its way out and no request on its way in, as far as anybody can see. On HTTP/2,
    /// where both sides say goodbye, that is never certain.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = self.state();
        let shakes = matches!(state.handshake, Handshake::Running(_) | Handshake::Done(_));
        let busy = state.running
            || state.delivery.is_blocked()
            || state.head.is_some()
            || state.closed.is_some()
            || state.unread;
        (!busy && !shakes && state.streams.is_none()).then_some(state.moved)
    }

    /// When the connection has been silent or slow for too long, and at what.
    pub(super) fn deadline(&self, limits: &Limits) -> (Instant, &'static str) {
        let state = self.state();
        if state.gives_way {
            return (state.moved, "gave way to another");
        }
        if let Some(since) = state.closed {
            let most = if state.late { limits.linger_time } else { limits.stall_time };
            return ((state.moved + limits.linger_time).min(since + most), "lingering");
        }
        if let Handshake::Awaited(since) | Handshake::Running(since) = state.handshake {
            return (since + limits.head_time, "slow handshake");
        }
        if let Some(streams) = &state.streams {
            if let Some(since) = streams.overdrawn() {
                return (since, "too many frames");
            }
            return if state.delivery.is_blocked() {
                (state.moved + limits.stall_time, "stalled")
            } else {
                streams.deadline(limits)
            };
        }
        let total = state.began + limits.request_time;
        if state.running || state.delivery.is_blocked() {
            ((state.moved + limits.stall_time).min(total), "stalled")
        } else if state.unwanted.is_some() {
            // Bytes alone do not count. Once the answer is out, hyper does not report the end of trailers, and a slow
            // head behind them must not pass for a body that moves.
            ((state.unwanted_moved + limits.stall_time).min(total), "stalled")
        } else if let Some(since) = state.head {
            (since + limits.head_time, "slow head")
        } else if let Handshake::Done(since) = state.handshake
            && self.is_stopping()
        {
            // What the client has shaken hands for may be on its way.
            (since + limits.linger_time, IDLE)
        } else {
            (state.moved + limits.idle_time, IDLE)
        }
    }

    /// What speaks for the connection where the server is full, if it can give way at all.
    pub(super) fn claim(&self) -> Option<Claim> {
        self.state().claim()
    }

    /// Ends the connection for another one's sake, if its claim is still as it was `seen`. Tells whether it will.
    pub(super) fn give_way(&self, seen: Claim) -> bool {
        let mut state = self.state();
        let still = state.claim().is_some_and(|claim| claim.is_still(seen));
        state.give_way_if(still)
    }

    /// Since when a connection of HTTP/2 waits for its client, and what it has in the backlog, where its share is `share`.
    pub(super) fn waits(&self, share: u32) -> Option<(Instant, u32)> {
        self.state().waits(share)
    }

    /// Ends the connection for all others' sake, if it waits since `since` at the latest.
    pub(super) fn give_up(&self, since: Instant, share: u32) {
        let mut state = self.state();
        let waits = state.waits(share).is_some_and(|(earliest, _)| earliest <= since);
        if let Some(streams) = state.streams.as_mut().filter(|_| waits) {
            streams.give_up();
        }
        state.give_way_if(waits);
    }

    /// On HTTP/2: asks or tells what the connection is at.
    pub(super) fn with_streams<T>(&self, work: impl FnOnce(&mut Streams) -> T) -> Option<T> {
        self.state().streams.as_deref_mut().map(work)
    }

    /// Says which task to wake when the connection has to give way.
    pub(super) fn set_task(&self, task: &Waker) {
        self.state().task = Some(task.clone());
    }

    /// Whether [`leave`](Self::leave) was said.
    pub(super) fn is_leaving(&self) -> bool {
        self.state().streams.as_ref().is_some_and(|streams| streams.is_leaving())
    }

    /// On HTTP/2: asks the client to go, and waits no longer than for its goodbye.
    pub(super) fn leave(&self) {
        if let Some(streams) = &mut self.state().streams {
            streams.leave(Instant::now());
        }
    }
}

impl State {
    /// Whether a request is being answered or its body read.
    fn is_busy(&self) -> bool {
        self.running || self.delivery.is_blocked() || self.unwanted.is_some()
    }

    fn drain(&mut self, cx: &mut Context<'_>) {
        let Some(mut body) = self.unwanted.take() else { return };
        let before = body.left();
        if body.poll_end(cx).is_ready() {
            self.behind_head = match self.unwanted_length {
                Some(length) => self.behind_head.saturating_sub(length),
                // Chunks are not counted, but end with a line.
                None => self.tail.line(),
            };
            self.note_next_head();
            return;
        }
        if body.left() < before {
            self.unwanted_moved = self.moved;
        }
        self.unwanted = Some(body);
    }

    /// A message has ended: notes whether the beginning of the next head came with it.
    ///
    /// A body of known length is counted; behind a head that is written in an unusual way that can be wrong by a few
    /// bytes, and an idle connection be timed as a head. All other messages end with an empty line.
    fn note_next_head(&mut self) {
        let has_begun = match self.unwanted_length {
            Some(_) => self.behind_head > 0,
            None => !self.tail.is_empty_line(),
        };
        self.head = has_begun.then_some(self.moved);
    }

    /// What speaks for the connection, if there is nothing to do but to wait for the client. A byte now and then makes
    /// no claim younger.
    fn claim(&self) -> Option<Claim> {
        let (standing, since) = if self.gives_way {
            return None;
        } else if let Some(since) = self.closed {
            (Standing::Closed, since)
        } else if !self.proven {
            (Standing::Untried, self.began)
        } else if let Some(since) = self.delivery.behind_since() {
            // A request that was read behind such an answer is not with the service yet, or cannot be answered.
            (Standing::Waiting, since)
        } else if self.running {
            return None;
        } else if let Some(streams) = &self.streams {
            (Standing::Waiting, streams.idle_since()?)
        } else if self.unwanted.is_some() {
            (Standing::Answered, self.unwanted_since)
        } else {
            (Standing::Waiting, self.head.unwrap_or(self.moved))
        };
        Some(Claim { standing, since })
    }

    fn waits(&self, share: u32) -> Option<(Instant, u32)> {
        let streams = self.streams.as_ref().filter(|streams| streams.held() > 0 && !self.gives_way)?;
        let blocked = self.delivery.is_blocked().then_some(self.moved);
        let since = streams.wait_since(share).into_iter().chain(blocked).min()?;
        Some((since, streams.held()))
    }

    /// Ends the connection for the sake of others, in its own task.
    fn give_way_if(&mut self, can: bool) -> bool {
        self.gives_way |= can;
        if let Some(task) = self.task.as_ref().filter(|_| can) {
            task.wake_by_ref();
        }
        can
    }

    fn is_hopeless(&self) -> bool {
        self.unwanted.as_ref().is_some_and(Unwanted::is_hopeless)
    }
}

/// A request that is being answered, until this is dropped.
pub(super) struct Running(Arc<Activity>);

impl Running {
    /// The connection's record.
    pub(super) fn activity(&self) -> &Activity {
        &self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running = false;
        state.unsent = true;
        let now = Instant::now();
        state.unwanted_since = now;
        if !state.delivery.is_blocked() {
            state.moved = now;
        }
        // The next head could not be read any earlier than now.
        if state.head.is_some() {
            state.head = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_however_much_there_is_to_read() {
        let activity = Activity::new(Arc::default());
        for _ in 0..2 {
            activity.begin_turn();
            activity.read(&[b'x'; BYTES_A_TURN - 1]);
            assert!(!activity.ends_turn());
            activity.read(b"x");
            assert!(activity.ends_turn());
        }
    }
}
