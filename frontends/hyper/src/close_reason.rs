//! [`CloseReason`]: why a connection has ended.

use std::fmt;

/// Reason why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// Either side closed it normally.
    Closed,
    /// The connection or the protocol failed, or the connection's task panicked or was aborted.
    Failed,
    /// No request came in time.
    Idle,
    /// The server was full (of connections or outstanding HTTP/2 requests), and the connection waited for its client.
    Evicted,
    /// The TLS handshake did not finish in time.
    SlowHandshake,
    /// The TLS handshake failed.
    HandshakeFailed,
    /// The head of a request was not read in time.
    SlowHead,
    /// No request made progress in time, a request did not finish in time, or the socket accepted no writes for too long.
    Stalled,
    /// The client did not close its side in time, after the last response or GOAWAY.
    LingerTimeout,
    /// The server stops, and the connection had no request.
    Stopping,
    /// The server stops, and the connection was still busy at the end of the grace period.
    ShutdownTimeout,
}

impl CloseReason {
    /// All reasons with their names, in the order of their discriminants.
    pub(crate) const TABLE: [(Self, &'static str); 11] = [
        (Self::Closed, "closed"),
        (Self::Failed, "failed"),
        (Self::Idle, "idle"),
        (Self::Evicted, "evicted"),
        (Self::SlowHandshake, "slow_handshake"),
        (Self::HandshakeFailed, "handshake_failed"),
        (Self::SlowHead, "slow_head"),
        (Self::Stalled, "stalled"),
        (Self::LingerTimeout, "linger_timeout"),
        (Self::Stopping, "stopping"),
        (Self::ShutdownTimeout, "shutdown_timeout"),
    ];

    /// Returns the reason's name in metrics and in the log.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
