//! How connections are served.

use std::sync::Arc;
use std::time::Duration;

use crate::{ConnectionMetrics, Networks, Tls};

/// How [`serve`](crate::serve) serves. The default is HTTP/1 in cleartext with the default timeouts and limits.
#[derive(Clone, Debug, Default)]
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
}

impl ServerConfig {
    /// Returns this configuration with timeouts that can be added to a time, and a buffer for heads that hyper accepts.
    pub(crate) fn bounded(mut self) -> Self {
        const MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let Timeouts { head, idle, stall, request, linger, grace, last_request, reclaim } = &mut self.timeouts;
        for time in [head, idle, stall, request, linger, grace, last_request, reclaim] {
            *time = MAX.min(*time);
        }
        self.limits.head_bytes = self.limits.head_bytes.max(8 * 1024);
        self
    }
}

/// How long each thing may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the first byte of an HTTP/1 head to its last; also from the accept to the end of a TLS handshake. 30 s.
    pub head: Duration,
    /// Without a request: from the accept, or from the end of the last response. 60 s.
    pub idle: Duration,
    /// While requests are open: without progress of any of them, of the client or of the service. It ends the connection.
    /// Also how long a socket may take nothing, and a peer acknowledge nothing. 30 s.
    pub stall: Duration,
    /// From the end of a request's head to the end of its response. On HTTP/2 it ends the connection with all its
    /// requests. 60 s.
    pub request: Duration,
    /// From the end of our side of a connection, or from `GOAWAY`, to that of the client's. Until then what it still sends is
    /// discarded, so that no reset overtakes the last response. 2 s.
    pub linger: Duration,
    /// How long running requests may continue at shutdown. 10 s.
    pub grace: Duration,
    /// At shutdown: how long an idle connection is kept for one more request, which may be on its way. 500 ms.
    pub last_request: Duration,
    /// How long a client must have been waited for before its connection may be evicted from a full server. 300 ms.
    pub reclaim: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            stall: Duration::from_secs(30),
            request: Duration::from_secs(60),
            linger: Duration::from_secs(2),
            grace: Duration::from_secs(10),
            last_request: Duration::from_millis(500),
            reclaim: Duration::from_millis(300),
        }
    }
}

/// How much of each thing there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at the same time; further ones wait in the listen queue. An idle one takes 20 KiB, with TLS 34 KiB, and after
    /// a large head at most 24 KiB more. 15,000.
    pub connections: u32,
    /// Requests at the same time on an HTTP/2 connection; more are refused. 32.
    pub streams: u32,
    /// HTTP/2 requests on all connections that are not answered to the last byte; more are refused. 15,000.
    pub outstanding_streams: u32,
    /// Bytes of a request's head, at least 8 KiB; a larger head gets a 431. 16 KiB.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 15_000, streams: 32, outstanding_streams: 15_000, head_bytes: 16 * 1024 }
    }
}
