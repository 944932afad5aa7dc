//! What a connection has done lately, and what it is at.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Context,
};

use tokio::time::Instant;

use super::{Counts, Limits, body::Unwanted, tail::Tail};

/// The record that a connection's stream and service write and its watchdog reads.
///
/// All three run in the connection's task, so nobody ever waits for the lock: it is here because hyper owns the
/// stream and the service.
pub(super) struct Activity {
    state: Mutex<State>,
    /// Apart from the rest, because every flush asks.
    stopping: AtomicBool,
    counts: Arc<Counts>,
}

struct State {
    /// When the last byte went in or out; at first, when the connection was accepted.
    moved: Instant,
    /// When the head that is being read began.
    head: Option<Instant>,
    /// A request is with the service, or its answer's body with hyper.
    running: bool,
    /// A body that is being thrown away.
    unwanted: Option<Unwanted>,
    /// When more of it came, or its request.
    unwanted_moved: Instant,
    /// Its length, where that is known.
    unwanted_length: Option<u64>,
    /// The socket takes no more of the answer.
    blocked: bool,
    /// When our side was closed.
    closed: Option<Instant>,
    /// Bytes read since the last request began.
    received: usize,
    /// Bytes read behind its head, as far as that is written in the usual way.
    behind_head: u64,
    /// How they end.
    tail: Tail,
    /// Bytes have arrived that were not read yet; only kept up to date while stopping.
    unread: bool,
}

impl Activity {
    /// The record of a connection that was just accepted.
    pub(super) fn new(counts: Arc<Counts>) -> Arc<Self> {
        let now = Instant::now();
        let state = State {
            moved: now,
            head: None,
            running: false,
            unwanted: None,
            unwanted_moved: now,
            unwanted_length: None,
            blocked: false,
            closed: None,
            received: 0,
            behind_head: 0,
            tail: Tail::default(),
            unread: false,
        };
        Arc::new(Self { state: Mutex::new(state), stopping: AtomicBool::new(false), counts })
    }

    /// What is counted of all connections.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bytes` came in.
    pub(super) fn read(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.moved = Instant::now();
        state.received += bytes.len();
        state.behind_head += bytes.len() as u64;
        state.tail.read(bytes);
        if state.head.is_none() && !state.is_busy() {
            state.head = Some(state.moved);
        }
    }

    /// A request's head was read, usually of `length` bytes, with a body behind it or not. Tells also whether certainly
    /// nothing was read behind the head.
    pub(super) fn begin(self: &Arc<Self>, length: usize, unwanted: Option<Unwanted>) -> (Running, bool) {
        let mut state = self.state();
        let alone = state.received == length && state.tail.is_empty_line();
        state.behind_head = state.received.saturating_sub(length) as u64;
        state.received = 0;
        state.running = true;
        state.unwanted_length = unwanted.as_ref().and_then(Unwanted::length);
        state.unwanted = unwanted;
        state.unwanted_moved = state.moved;
        state.head = None;
        if state.unwanted.is_none() {
            state.note_next_head();
        }
        (Running(self.clone()), alone)
    }

    /// Bytes of an answer went out.
    pub(super) fn wrote(&self) {
        let mut state = self.state();
        state.moved = Instant::now();
        state.blocked = false;
    }

    /// The socket took no byte of an answer.
    pub(super) fn blocked(&self) {
        self.state().blocked = true;
    }

    /// Our side of the connection was closed.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.moved = Instant::now();
        state.closed = Some(state.moved);
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
        let mut state = self.state();
        let Some(mut body) = state.unwanted.take() else { return };
        let before = body.left();
        if body.poll_end(cx).is_ready() {
            state.note_next_head();
            return;
        }
        if body.left() < before {
            state.unwanted_moved = state.moved;
        }
        state.unwanted = Some(body);
    }

    /// Whether the connection cannot go on after this request.
    pub(super) fn is_hopeless(&self) -> bool {
        self.state().is_hopeless()
    }

    /// Whether the last answer that was possible is out.
    pub(super) fn is_over(&self) -> bool {
        let state = self.state();
        state.is_hopeless() && !state.running && !state.blocked && state.closed.is_none()
    }

    /// Whether a body, or more of it, is to come.
    pub(super) fn expects_body(&self) -> bool {
        self.state().unwanted.is_some()
    }

    /// Since when nothing has been on its way out and no request on its way in, as far as anybody can see.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = self.state();
        let busy = state.running || state.blocked || state.head.is_some() || state.closed.is_some() || state.unread;
        (!busy).then_some(state.moved)
    }

    /// When the connection has been silent or slow for too long, and at what.
    pub(super) fn deadline(&self, limits: &Limits) -> (Instant, &'static str) {
        let state = self.state();
        if let Some(since) = state.closed {
            ((state.moved + limits.linger_time).min(since + limits.stall_time), "lingering")
        } else if state.running || state.blocked {
            (state.moved + limits.stall_time, "stalled")
        } else if state.unwanted.is_some() {
            // Bytes alone do not count. Once the answer is out, hyper does not report the end of trailers, and a slow
            // head behind them must not pass for a body that moves.
            (state.unwanted_moved + limits.stall_time, "stalled")
        } else if let Some(since) = state.head {
            (since + limits.head_time, "slow head")
        } else {
            (state.moved + limits.idle_time, "idle")
        }
    }
}

impl State {
    /// Whether a request is being answered or its body read.
    fn is_busy(&self) -> bool {
        self.running || self.blocked || self.unwanted.is_some()
    }

    /// A message has ended: notes whether the beginning of the next head came with it.
    ///
    /// A body of known length is counted; behind a head that is written in an unusual way that can be wrong by a few
    /// bytes, and an idle connection be timed as a head. All other messages end with an empty line.
    fn note_next_head(&mut self) {
        let has_begun = match self.unwanted_length {
            Some(length) => self.behind_head > length,
            None => !self.tail.is_empty_line(),
        };
        self.head = has_begun.then_some(self.moved);
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
        // The next head could not be read any earlier than now.
        if state.head.is_some() {
            state.head = Some(Instant::now());
        }
    }
}
