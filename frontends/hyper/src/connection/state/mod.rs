//! [`ConnectionState`]: what a connection is doing, and since when.

mod lifetime;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use tokio::time::Instant;

use super::{DataRate, Shutdown};
use crate::ServerConfig;
use crate::close_reason::Interrupt;
use crate::http1::{Http1State, RequestBody};
use crate::http2::Http2State;
use crate::request::Peer;

/// What the connection's I/O and service write, and its timer reads, all in the connection's task: the lock is here because
/// hyper owns the I/O and the service. From outside come only evictions and the service futures of HTTP/2.
pub(crate) struct ConnectionState {
    activity: Mutex<Activity>,
    pub(crate) shutdown: Arc<Shutdown>,
    pub(crate) peer: Peer,
    pub(crate) config: Arc<ServerConfig>,
}

/// The part of a connection's state that changes.
pub(crate) struct Activity {
    /// When the last byte went in or out that counts; at first, when the connection was accepted.
    last_io: Instant,
    phase: Phase,
    protocol: Protocol,
    pub(super) sending: DataRate,
    /// When the connection was accepted, until a request has come.
    unused_since: Option<Instant>,
    evicted: bool,
    /// A deadline has ended the connection: nothing that still comes makes it last longer.
    pub(super) timed_out: bool,
    /// Bytes have arrived at the socket that hyper has not read; only kept up to date at shutdown.
    pub(crate) bytes_waiting: bool,
    /// How much is still read and thrown away after our side was closed.
    linger_bytes: u64,
    /// The connection's task, from its first turn on.
    task: Option<Waker>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// It was accepted then, and the TLS handshake is awaited.
    Accepted(Instant),
    /// It was accepted then, and the TLS handshake runs.
    Handshake(Instant),
    /// The handshake was over then, and nothing has come since.
    Secured(Instant),
    Open,
    /// Our side was closed then.
    Closed(Instant),
}

enum Protocol {
    Http1(Http1State),
    Http2(Http2State),
}

impl ConnectionState {
    /// Of a connection that was just accepted, and begins with a TLS handshake or with HTTP/1.
    pub(crate) fn new(peer: Peer, config: Arc<ServerConfig>, shutdown: Arc<Shutdown>) -> Arc<Self> {
        let now = Instant::now();
        let activity = Activity {
            last_io: now,
            phase: if peer.is_tls { Phase::Accepted(now) } else { Phase::Open },
            protocol: Protocol::Http1(Http1State::new(now)),
            sending: DataRate::default(),
            unused_since: Some(now),
            evicted: false,
            timed_out: false,
            bytes_waiting: false,
            linger_bytes: config.limits.linger_bytes,
            task: None,
        };
        Arc::new(Self { activity: activity.into(), shutdown, peer, config })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work` with the part of HTTP/1, and the time of the last byte.
    pub(crate) fn http1<T>(&self, work: impl FnOnce(&mut Http1State, Instant) -> T) -> Option<T> {
        let Activity { protocol: Protocol::Http1(http1), last_io, .. } = &mut *self.lock() else { return None };
        Some(work(http1, *last_io))
    }

    pub(crate) fn http2<T>(&self, work: impl FnOnce(&mut Http2State, Instant) -> T) -> Option<T> {
        let Protocol::Http2(http2) = &mut self.lock().protocol else { return None };
        Some(work(http2, Instant::now()))
    }

    pub(crate) fn count_panic(&self, outcome: &str) {
        self.config.metrics.panics.add();
        tracing::error!(peer = %self.peer.address, "{outcome}");
    }
}

impl Activity {
    pub(super) fn begin_handshake(&mut self) {
        if let Phase::Accepted(since) = self.phase {
            self.phase = Phase::Handshake(since);
        }
    }

    /// The handshake is over, and HTTP/2 was chosen or not.
    pub(super) fn end_handshake(&mut self, http2: Option<Http2State>) {
        self.last_io = Instant::now();
        self.phase = Phase::Secured(self.last_io);
        if let Some(http2) = http2 {
            self.protocol = Protocol::Http2(http2);
        }
    }

    /// `bytes` of HTTP came in.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        if let Phase::Secured(_) = self.phase {
            self.phase = Phase::Open;
        }
        match &mut self.protocol {
            Protocol::Http1(http1) => {
                self.last_io = Instant::now();
                http1.received(bytes, self.last_io, self.sending.is_blocked());
            }
            Protocol::Http2(http2) => http2.received(bytes.len()),
        }
    }

    /// A request's head was read on HTTP/1, with a body behind it or not; see [`Http1State::begin`].
    pub(crate) fn begin_http1(&mut self, length: usize, body: Option<RequestBody>) -> bool {
        (self.unused_since, self.evicted) = (None, false);
        let Protocol::Http1(http1) = &mut self.protocol else { return true };
        http1.begin(length, body, self.last_io)
    }

    /// A request's head was read on HTTP/2. Where the request is not refused, it is known by the number.
    pub(crate) fn begin_http2(&mut self) -> Option<u64> {
        self.unused_since = None;
        let Protocol::Http2(http2) = &mut self.protocol else { return None };
        self.evicted &= http2.is_released;
        http2.begin(Instant::now())
    }

    /// Cancels an eviction, because the body that the service wants has arrived in the meantime.
    pub(crate) fn keep(&mut self) {
        self.evicted = false;
    }

    pub(crate) fn end_http1(&mut self) {
        let now = Instant::now();
        if !self.sending.is_blocked() {
            self.last_io = now;
        }
        if let Protocol::Http1(http1) = &mut self.protocol {
            http1.end_response(now);
        }
    }

    /// `bytes` went out through the socket. Those that are of no response, but of TLS itself, keep no connection alive.
    pub(super) fn sent(&mut self, bytes: usize) {
        let (counts, ended) = match &mut self.protocol {
            Protocol::Http1(http1) => http1.sends(),
            Protocol::Http2(_) => (false, None),
        };
        // Another look at the clock would take 20 to 30 ns to say the same.
        let now = ended.filter(|_| !self.sending.is_blocked()).unwrap_or_else(Instant::now);
        if counts || self.sending.is_blocked() {
            self.last_io = now;
        }
        self.sending.sent(bytes, now);
    }

    pub(super) fn close(&mut self) {
        self.last_io = Instant::now();
        self.phase = Phase::Closed(self.last_io);
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    /// No more than `bytes` is read and thrown away after our side was closed; 0 does not wait for the client's.
    pub(crate) fn linger_at_most(&mut self, bytes: u64) {
        self.linger_bytes = self.linger_bytes.min(bytes);
    }

    /// So many bytes were thrown away. Tells whether to go on.
    pub(super) fn discarded(&mut self, bytes: usize) -> bool {
        self.last_io = if bytes > 0 { Instant::now() } else { self.last_io };
        self.linger_bytes = self.linger_bytes.saturating_sub(bytes as u64);
        self.linger_bytes > 0
    }

    pub(crate) fn wake(&self) {
        self.task.iter().for_each(Waker::wake_by_ref);
    }

    /// The connection has had its turn: reads on in an HTTP/1 body, and tells why there can be no further response.
    pub(super) fn end_turn(&mut self, cx: &mut Context<'_>) -> Option<Interrupt> {
        self.task.get_or_insert_with(|| cx.waker().clone());
        let Protocol::Http1(http1) = &mut self.protocol else { return None };
        let interrupt = http1.end_turn(cx, self.last_io);
        interrupt.filter(|_| !self.sending.is_blocked() && !self.is_closed())
    }
}

#[cfg(test)]
mod tests;
