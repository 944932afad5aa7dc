//! Configuration of a server.

use std::sync::Arc;
use std::time::Duration;

use crate::{ConnectionMetrics, Networks, Tls};

/// Configuration of [`serve`](crate::serve). The default is HTTP/1 in cleartext with the default timeouts and limits.
#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    /// Timeouts of connections and requests.
    pub timeouts: Timeouts,
    /// Limits of resources.
    pub limits: Limits,
    /// HTTPS with HTTP/1 and HTTP/2, or HTTP/1 in cleartext without it.
    pub tls: Option<Arc<Tls>>,
    /// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    pub trusted_proxies: Networks,
    /// Counters of connections.
    pub metrics: Arc<ConnectionMetrics>,
}

impl ServerConfig {
    /// Limits timeouts to 100 years, so that they can be added to a time. Raises `head_bytes` to hyper's minimum, 8 KiB.
    pub(crate) fn clamped(mut self) -> Self {
        const MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let Timeouts { head, idle, stall, request, linger, grace, last_request, reclaim } = &mut self.timeouts;
        for time in [head, idle, stall, request, linger, grace, last_request, reclaim] {
            *time = MAX.min(*time);
        }
        self.limits.head_bytes = self.limits.head_bytes.max(8 * 1024);
        self
    }
}

/// Timeouts of connections and requests.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Maximum time from first to last byte of an HTTP/1 head, and from accept to the end of a TLS handshake. Default: 30 s.
    pub head: Duration,
    /// Maximum time without a request, from accept, the end of the TLS handshake or that of the last response. Default: 60 s.
    pub idle: Duration,
    /// Maximum time in which no open request of a connection makes progress, by client or service. Also the maximum time
    /// in which the socket accepts no writes or, on Linux, the peer acknowledges nothing. Default: 30 s.
    pub stall: Duration,
    /// Maximum time from the end of a request's head to the end of its response. On HTTP/2, exceeding it ends the
    /// connection with all its requests. Default: 60 s.
    pub request: Duration,
    /// Maximum time for the client to close its side after the server has closed its own, or has sent `GOAWAY` and all
    /// responses. Bytes after the server's close are discarded, so that no reset overtakes a response. Default: 2 s.
    pub linger: Duration,
    /// Maximum time for which running requests may continue at shutdown. Default: 10 s.
    pub grace: Duration,
    /// Maximum time at shutdown for which an idle HTTP/1 connection waits for a request already in flight. Default: 500 ms.
    pub last_request: Duration,
    /// Minimum time for which a connection has waited for its client before a full server may evict it. Default: 300 ms.
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

/// Limits of resources.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of connections; further ones wait in the listen queue. An idle one uses 20 KiB, with TLS 34 KiB,
    /// and after a large head at most 24 KiB more. Default: 15,000.
    pub connections: u32,
    /// Maximum number of concurrent requests on an HTTP/2 connection; more are refused. Default: 32.
    pub streams: u32,
    /// Maximum number of HTTP/2 requests without a complete response, on all connections; more are refused. Default: 15,000.
    pub outstanding_streams: u32,
    /// Maximum length of a request's head in bytes, at least 8 KiB; a larger head gets a 431. Default: 16 KiB.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 15_000, streams: 32, outstanding_streams: 15_000, head_bytes: 16 * 1024 }
    }
}
