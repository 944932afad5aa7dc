//! [`ConnectionState`]: the activity of a connection, and its times.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::time::Instant;

use crate::registry::Registry;
use crate::request::Peer;

/// State that the I/O of a connection, its requests and its timer share.
pub(crate) struct ConnectionState {
    activity: Mutex<Activity>,
    pub(crate) peer: Peer,
    pub(crate) registry: Arc<Registry>,
}

/// The mutable part of a connection's state.
pub(crate) struct Activity {
    pub(super) phase: Phase,
    /// Requests without a complete response, the oldest first.
    pub(super) requests: Vec<Request>,
    /// Number of requests so far.
    pub(super) count: u64,
    /// When the last request ended; before that, when the connection was accepted or its handshake ended.
    pub(super) idle_since: Instant,
    /// When a request last made progress.
    pub(super) last_progress: Instant,
    /// When the first byte of the HTTP/1 head that is being read arrived, without counting bytes that arrived together with
    /// the previous request.
    pub(super) head: Option<Instant>,
    /// Bytes of HTTP/1 read since the last request began or ended.
    read: usize,
    /// Since when the socket accepts no writes.
    pub(super) blocked: Option<Instant>,
    /// When `GOAWAY` was sent.
    pub(super) goaway: Option<Instant>,
    pub(super) evicted: bool,
    /// Whether bytes have arrived that hyper has not read; only up to date at shutdown.
    pub(crate) bytes_waiting: bool,
    /// The connection's task, from its first poll on.
    task: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The server waits for the first byte of a TLS handshake.
    Accepted,
    Handshake,
    Http1,
    Http2,
    /// The server closed its side at this time.
    Closed(Instant),
}

pub(super) struct Request {
    id: u64,
    pub(super) began: Instant,
    last_progress: Instant,
    waits_for: WaitsFor,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    Service,
    /// The client, to send the body that the service polls.
    Body,
    /// The client, to read the available part of the response.
    Window,
}

impl ConnectionState {
    /// Creates the state of a connection that was just accepted.
    pub(crate) fn new(peer: Peer, registry: Arc<Registry>) -> Arc<Self> {
        let now = Instant::now();
        let activity = Activity {
            phase: if peer.is_tls { Phase::Accepted } else { Phase::Http1 },
            requests: Vec::new(),
            count: 0,
            idle_since: now,
            last_progress: now,
            head: None,
            read: 0,
            blocked: None,
            goaway: None,
            evicted: false,
            bytes_waiting: false,
            task: None,
        };
        Arc::new(Self { activity: activity.into(), peer, registry })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_panic(&self, outcome: &str) {
        self.registry.config.metrics.panics.add();
        tracing::error!(peer = %self.peer.address, "{outcome}");
    }
}

impl Activity {
    pub(super) fn begin_handshake(&mut self) {
        self.phase = Phase::Handshake;
    }

    pub(crate) fn end_handshake(&mut self, protocol: Phase) {
        (self.phase, self.idle_since) = (protocol, Instant::now());
    }

    /// Records `bytes` of received HTTP.
    pub(super) fn record_received(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes);
        if self.phase == Phase::Http1 && self.requests.is_empty() {
            self.head.get_or_insert_with(Instant::now);
        }
    }

    /// Begins a request whose head was read, and cancels an eviction. Returns its id, and whether exactly `head_length`
    /// bytes were read: if not, the next request may have arrived with it. Only HTTP/1 uses the latter.
    pub(crate) fn begin(&mut self, head_length: usize) -> (u64, bool) {
        let (is_unpipelined, now) = (self.read == head_length, Instant::now());
        self.count += 1;
        self.requests.push(Request { id: self.count, began: now, last_progress: now, waits_for: WaitsFor::Service });
        (self.last_progress, self.head, self.read, self.evicted) = (now, None, 0, false);
        (self.count, is_unpipelined)
    }

    /// Records what a request waits for. A body that arrives cancels an eviction.
    pub(crate) fn wait(&mut self, id: u64, waits_for: WaitsFor) {
        let Some(request) = self.requests.iter_mut().find(|request| request.id == id) else { return };
        if request.waits_for != waits_for {
            (request.waits_for, request.last_progress) = (waits_for, Instant::now());
            self.last_progress = request.last_progress;
            self.evicted &= waits_for != WaitsFor::Service;
        }
    }

    /// Records that a part of a response was written.
    pub(crate) fn record_sent(&mut self, id: u64) {
        self.last_progress = Instant::now();
        self.requests
            .iter_mut()
            .filter(|request| request.id == id)
            .for_each(|request| request.last_progress = self.last_progress);
    }

    /// Ends a request whose response is complete, or that was canceled.
    pub(crate) fn end_request(&mut self, id: u64) {
        self.requests.retain(|request| request.id != id);
        (self.idle_since, self.read) = (Instant::now(), 0);
        self.last_progress = self.idle_since;
    }

    pub(super) fn block(&mut self, is_blocked: bool) {
        self.blocked = is_blocked.then(Instant::now);
    }

    /// Requests a graceful close. Returns `true` only the first time, when `GOAWAY` must be sent.
    pub(crate) fn go_away(&mut self) -> bool {
        let before = self.goaway;
        self.goaway.get_or_insert_with(Instant::now);
        before.is_none()
    }

    pub(super) fn close(&mut self) {
        (self.phase, self.blocked) = (Phase::Closed(Instant::now()), None);
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    pub(super) fn set_task(&mut self, task: &Waker) {
        self.task.get_or_insert_with(|| task.clone());
    }

    pub(crate) fn wake(&self) {
        self.task.iter().for_each(Waker::wake_by_ref);
    }

    /// Records that the connection's task has ended.
    pub(crate) fn end(&mut self) {
        self.evicted = true;
    }
}

impl Request {
    /// Returns since when the request waits for the client, if it does. Single bytes of a body do not restart the wait.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        match self.waits_for {
            WaitsFor::Service => None,
            WaitsFor::Body => Some(self.began),
            WaitsFor::Window => Some(self.last_progress),
        }
    }
}
