//! [`Open`]: the requests of a connection that are not answered to the last byte.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    super::{
        Limits,
        backlog::{Backlog, Holding},
    },
    pace::Pace,
};

/// Those that are under way, and how their clients take the answers.
#[derive(Debug)]
pub(super) struct Open {
    streams: Vec<Stream>,
    /// When the last one ended; at first, when the connection began.
    idle: Instant,
    pace: Pace,
    /// What counts in the backlog: these, and what else the connection has.
    pub(super) held: Holding,
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
}

impl Open {
    /// None yet, on a connection that begins.
    pub(super) fn new(now: Instant, backlog: Arc<Backlog>) -> Self {
        Self { streams: Vec::new(), idle: now, pace: Pace::new(now), held: Holding::new(backlog) }
    }

    /// A request has begun to come on stream `number`.
    pub(super) fn begin(&mut self, number: u32, now: Instant) {
        self.streams.push(Stream { number, began: now, moved: now, answered: false });
        self.held.add(1);
    }

    /// More of an answer goes out, with so many bytes of its body.
    pub(super) fn moved(&mut self, number: u32, bytes: u32, now: Instant) {
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.number == number) else { return };
        stream.moved = now;
        if !stream.answered {
            stream.answered = true;
            self.pace.begin(now);
        }
        self.pace.sent(bytes, now);
    }

    /// The stream is over. Tells whether there was a request on it.
    pub(super) fn end(&mut self, number: u32, now: Instant) -> bool {
        let Some(at) = self.streams.iter().position(|stream| stream.number == number) else { return false };
        if self.streams.swap_remove(at).answered {
            self.pace.end(now);
        }
        self.held.remove(1);
        if self.streams.is_empty() {
            self.idle = now;
        }
        true
    }

    /// When the last one ended, whether there are others now or not; at first, when the connection began.
    pub(super) fn last_end(&self) -> Instant {
        self.idle
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// When the first of them has taken too long, if there are any.
    pub(super) fn due(&self, limits: &Limits) -> Option<Instant> {
        let due = |stream: &Stream| (stream.moved + limits.stall_time).min(stream.began + limits.request_time);
        self.streams.iter().map(due).min()
    }

    /// Since when the client has not taken its answers at a decent rate. Where more is in the backlog than `share`, each
    /// answer that goes out has to move too.
    pub(super) fn wait_since(&self, share: u32) -> Option<Instant> {
        let answered = self.streams.iter().filter(|stream| stream.answered && self.held.requests() > share);
        let unmoved = answered.map(|stream| stream.moved).min();
        self.pace.paid_until().into_iter().chain(unmoved).min()
    }
}
