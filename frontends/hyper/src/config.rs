//! How connections are served.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;

use crate::{ConnectionMetrics, Networks, Tls};

/// How [`serve`](crate::serve) serves. The default is HTTP/1 in cleartext with the default timeouts and limits.
#[derive(Clone)]
pub struct ServerConfig {
    /// How long each thing may take.
    pub timeouts: Timeouts,
    /// How much of each thing there may be.
    pub limits: Limits,
    /// HTTPS with HTTP/1 and HTTP/2, or HTTP/1 in cleartext without it.
    pub tls: Option<Arc<Tls>>,
    /// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    pub trusted_proxies: Networks,
    /// Where connections are counted.
    pub metrics: Arc<ConnectionMetrics>,
    /// Which requests' bodies the service gets, up to [`Limits::body_bytes`]. All others are thrown away, and it gets empty ones.
    pub wants_body: WantsBody,
}

/// Whether the service gets the body of a request with that head. A panic in it is answered with 500.
pub type WantsBody = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            tls: None,
            trusted_proxies: Networks::default(),
            metrics: Arc::default(),
            wants_body: Arc::new(|_| false),
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeouts, limits, .. } = self;
        f.debug_struct("ServerConfig").field("timeouts", timeouts).field("limits", limits).finish_non_exhaustive()
    }
}

/// How long each thing may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the first byte of an HTTP/1 head to its last; also from the accept to the end of a TLS handshake. 30 s.
    pub head: Duration,
    /// Without a request: from the accept, or from the end of the last response. 60 s.
    pub idle: Duration,
    /// While a request is read or answered: without progress, of the client or of the service. On HTTP/2 it ends the
    /// connection with all its requests. Also how long a peer may acknowledge nothing. 30 s.
    pub stall: Duration,
    /// From the end of a request's head to the end of its body and its response. 60 s.
    pub request: Duration,
    /// After the last response, without a byte from a client that has not closed its side; `stall` at most in all. 1 s.
    pub linger: Duration,
    /// How long running requests may go on at shutdown. 10 s.
    pub grace: Duration,
    /// At shutdown: how long an idle connection is kept for one more request, which may be on its way. 500 ms.
    pub last_request: Duration,
    /// How recently before a shutdown a client must have been active for `last_request` to apply. 1 s.
    pub recent: Duration,
    /// How long a connection must be idle, slow or lingering before it may be closed to free what it holds: its slot,
    /// where the server is full; on HTTP/2 also its requests, beyond half of [`Limits::outstanding_streams`] and sooner
    /// the nearer that limit is; and where it is idle, the memory that large frames took. 300 ms.
    pub reclaim: Duration,
    /// How long an idle HTTP/1 connection keeps the memory of a large head or body. 10 ms.
    pub large_buffer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            stall: Duration::from_secs(30),
            request: Duration::from_secs(60),
            linger: Duration::from_secs(1),
            grace: Duration::from_secs(10),
            last_request: Duration::from_millis(500),
            recent: Duration::from_secs(1),
            reclaim: Duration::from_millis(300),
            large_buffer: Duration::from_millis(10),
        }
    }
}

impl Timeouts {
    /// The same, but none so long that it could not be added to a time.
    pub(crate) fn bounded(mut self) -> Self {
        const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let Self { head, idle, stall, request, linger, grace, last_request, recent, reclaim, large_buffer } = &mut self;
        for time in [head, idle, stall, request, linger, grace, last_request, recent, reclaim, large_buffer] {
            *time = LONGEST.min(*time);
        }
        self
    }
}

/// How much of each thing there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at the same time; further ones wait in the listen queue. An idle one takes 20 KiB, with TLS 34 KiB. 15,000.
    pub connections: u32,
    /// Requests at the same time on an HTTP/2 connection. 100.
    pub streams: u32,
    /// HTTP/2 requests on all connections that are not answered to the last byte; more are refused. Beyond half of it, clients
    /// are evicted that take nothing, or send no body that the service wants. 15,000.
    pub outstanding_streams: u32,
    /// Fields of a head; more are answered 431. 100.
    pub header_fields: usize,
    /// A head in bytes, 8 KiB at least; more are answered 431, or 414 where it is the request line. 64 KiB.
    pub head_bytes: usize,
    /// A body that the service wants; more is answered 413. 16 KiB.
    pub body_bytes: u64,
    /// How much of an HTTP/1 body that nobody wants is read so that the next request can follow. 64 KiB.
    pub drained_bytes: u64,
    /// How much is read and thrown away after the last response, so that it arrives. 16 MiB.
    pub linger_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 15_000,
            streams: 100,
            outstanding_streams: 15_000,
            header_fields: 100,
            head_bytes: 64 * 1024,
            body_bytes: 16 * 1024,
            drained_bytes: 64 * 1024,
            linger_bytes: 16 * 1024 * 1024,
        }
    }
}
