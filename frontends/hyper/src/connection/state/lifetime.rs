//! How long a connection may last, as its state tells: its deadline, and whether it can be evicted before.

use tokio::time::Instant;

use super::{Activity, ConnectionState, Phase, Protocol};
use crate::close_reason::Interrupt;
use crate::overload::{Priority, Stage};
use crate::{CloseReason, Timeouts};

impl ConnectionState {
    /// Evicts the connection for the sake of others, if that is still right. Tells whether it will end.
    pub(crate) fn evict_if(&self, is_right: impl FnOnce(&Activity) -> bool) -> bool {
        let mut activity = self.lock();
        if !is_right(&activity) {
            return false;
        }
        activity.evicted = true;
        if let Protocol::Http2(http2) = &mut activity.protocol {
            http2.release();
        }
        activity.wake();
        true
    }
}

impl Activity {
    /// Since when nothing has been on its way out and no request on its way in. On HTTP/2, GOAWAY settles that.
    pub(in super::super) fn quiet_since(&self) -> Option<Instant> {
        let Protocol::Http1(http1) = &self.protocol else { return None };
        let is_open = matches!(self.phase, Phase::Accepted(_) | Phase::Open);
        let busy = http1.is_reading_or_answering() || self.sending.is_blocked() || self.bytes_waiting;
        (is_open && !busy).then_some(self.last_io)
    }

    /// When the connection will have been silent or slow for too long, and what is to be done then.
    pub(in super::super) fn deadline(&self, timeouts: &Timeouts, stopping: bool) -> (Instant, Interrupt) {
        let (last_io, blocked) = (self.last_io, self.sending.is_blocked());
        let (deadline, reason) = match (self.phase, &self.protocol) {
            _ if self.evicted => (last_io, CloseReason::Evicted),
            (Phase::Closed(since), _) => {
                let most = if self.timed_out { timeouts.linger } else { timeouts.stall };
                ((last_io + timeouts.linger).min(since + most), CloseReason::Lingering)
            }
            (Phase::Accepted(since) | Phase::Handshake(since), _) => {
                (since + timeouts.head, CloseReason::SlowHandshake)
            }
            (_, Protocol::Http2(http2)) => {
                // What the socket does not take may be of no request.
                let since = self.sending.blocked.map(|since| since.max(last_io));
                let stalled = since.map(|since| (since + timeouts.stall, CloseReason::Stalled));
                let deadline = http2.deadline(timeouts);
                stalled.filter(|stalled| stalled.0 < deadline.0).unwrap_or(deadline)
            }
            // What the client has shaken hands for may be on its way.
            (Phase::Secured(since), _) if stopping && !blocked => (since + timeouts.linger, CloseReason::Idle),
            (_, Protocol::Http1(http1)) => return http1.deadline(last_io, blocked, timeouts),
        };
        (deadline, Interrupt::Close(reason))
    }

    /// What speaks against evicting the connection, if it can be evicted at all. A byte now and then makes it no younger.
    pub(crate) fn priority(&self) -> Option<Priority> {
        let (stage, since) = match (self.phase, self.unused_since, &self.protocol) {
            _ if self.evicted => return None,
            (Phase::Closed(since), ..) => (Stage::Closed, since),
            (_, Some(since), _) => (Stage::Unused, since),
            // A request that was read behind such a response is not with the service yet, or cannot be answered.
            _ if self.sending.is_blocked() => (Stage::Waiting, self.sending.behind_since()?),
            (.., Protocol::Http1(http1)) => http1.waits(self.last_io)?,
            (.., Protocol::Http2(http2)) => (Stage::Waiting, http2.waits_since()?),
        };
        Some(Priority { stage, since })
    }

    pub(crate) fn waits_for_client(&self) -> Option<(usize, Instant)> {
        let Protocol::Http2(http2) = &self.protocol else { return None };
        http2.waits_for_client().filter(|_| !self.evicted)
    }
}
