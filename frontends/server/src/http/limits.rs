//! What a connection may cost.

use std::time::Duration;

/// The bounds of [`serve`](super::serve). The default has the documented numbers; tests shorten the times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the first byte of a request's head to its last; also from the accept to the end of a TLS handshake.
    pub(crate) head_time: Duration,
    /// Without a request: from the accept, or from the end of the last answer.
    pub(crate) idle_time: Duration,
    /// Without a byte in either direction while a request is being answered or its body read.
    pub(crate) stall_time: Duration,
    /// From the end of a request's head to that of its body and its answer. It stands beyond `stall_time`, for clients
    /// whose every byte comes just in time.
    pub(crate) request_time: Duration,
    /// After the last answer of a connection, without a byte from a client that has not closed its side.
    /// All in all such a connection lasts `stall_time` at most, and no longer than this where it was ended for want of time.
    pub(crate) linger_time: Duration,
    /// What is read and thrown away after the last answer, so that the answer is not lost with it.
    pub(crate) linger_bytes: u64,
    /// Header fields of a request.
    pub(crate) header_fields: usize,
    /// Request line and header fields together, in bytes. hyper asks for 8 KiB at least.
    pub(crate) head_bytes: usize,
    /// What is read of an ignored body for the sake of the connection's next request.
    pub(crate) drained_body: u64,
    /// What requests still get once the server stops.
    pub(crate) shutdown_grace: Duration,
    /// How long a quiet connection of a server that stops is kept for one more request, if its client was here in the
    /// last `recent_time`: such a client asks again and again, and its request may be on the way.
    pub(crate) last_request_time: Duration,
    pub(crate) recent_time: Duration,
    /// Connections at the same time; further ones wait in the listen queue. An idle one takes 20 KiB, with TLS 34 KiB, so
    /// that the documented number of them takes half a GiB.
    pub(crate) connections: u32,
    /// How long a connection is idle or slow, or lingers, before it has to give way to another, where there are as many
    /// as there may be.
    pub(crate) yield_time: Duration,
    /// Requests at the same time on a connection of HTTP/2.
    pub(crate) streams: u32,
    /// Requests of HTTP/2 that are not answered to the last byte, on all connections together: as many as HTTP/1 could
    /// hold, one a connection. Beyond the half of it, connections give way that hold much and whose clients take little;
    /// beyond all of it, requests are refused on those that hold more than their share, and an eighth more on the others.
    /// A head that is not finished counts as several.
    pub(crate) unanswered: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(60),
            stall_time: Duration::from_secs(30),
            request_time: Duration::from_secs(60),
            linger_time: Duration::from_secs(1),
            linger_bytes: 16 * 1024 * 1024,
            header_fields: 100,
            head_bytes: 64 * 1024,
            drained_body: 64 * 1024,
            shutdown_grace: Duration::from_secs(10),
            last_request_time: Duration::from_millis(500),
            recent_time: Duration::from_secs(1),
            connections: 15_000,
            yield_time: Duration::from_secs(1),
            streams: 100,
            unanswered: 15_000,
        }
    }
}
