//! Why a connection ends: [`CloseReason`], and [`Interrupt`] while it runs.

use std::fmt;

/// Why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// It was closed normally, by either side.
    Closed,
    /// An error of the connection or of the protocol.
    Failed,
    /// No request came in time.
    Idle,
    /// The server was full, or had too many requests of HTTP/2 outstanding. Metrics and the log call it `gave_way`.
    Evicted,
    /// The TLS handshake was not over in time.
    SlowHandshake,
    /// The TLS handshake failed.
    HandshakeFailed,
    /// The head of a request was not read in time.
    SlowHead,
    /// A request made no progress in time, or was not over in time.
    Stalled,
    /// The client broke a limit of HTTP/2 on frames, streams or resets.
    TooManyFrames,
    /// The client did not close its side after the last response in time.
    Lingering,
    /// An HTTP/2 client did not close in time after GOAWAY.
    NoGoodbye,
    /// The rest of a request's body is too long to be read and thrown away.
    UnreadBody,
    /// The server stops, and the connection had no request.
    Stopping,
    /// The server stops, and the request was not answered within the grace.
    EndOfGrace,
}

impl CloseReason {
    /// Each with its name, in the order of their numbers.
    pub(crate) const TABLE: [(Self, &'static str); 14] = [
        (Self::Closed, "closed"),
        (Self::Failed, "failed"),
        (Self::Idle, "idle"),
        (Self::Evicted, "gave_way"),
        (Self::SlowHandshake, "slow_handshake"),
        (Self::HandshakeFailed, "handshake_failed"),
        (Self::SlowHead, "slow_head"),
        (Self::Stalled, "stalled"),
        (Self::TooManyFrames, "too_many_frames"),
        (Self::Lingering, "lingering"),
        (Self::NoGoodbye, "no_goodbye"),
        (Self::UnreadBody, "unread_body"),
        (Self::Stopping, "stopping"),
        (Self::EndOfGrace, "end_of_grace"),
    ];

    /// Its name in metrics and in the log.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    Close(CloseReason),
    /// Its request line is longer than any head may be.
    LongLine,
    /// It is idle on HTTP/1, and hyper keeps much memory for it: hyper's connection is replaced by a new one.
    LargeBuffer,
}
