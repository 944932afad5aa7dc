//! [`Idle`]: since when a connection waits for its client; and the deadline of a connection.

use tokio::time::Instant;

use super::ConnectionState;
use super::state::{Activity, Phase, Request};
use crate::registry::Stop;
use crate::{CloseReason, Timeouts};

/// State of a connection that only its client can advance: by a handshake, a head, a body, reading a response or closing.
/// The connection with the smallest value is evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Idle {
    /// Whether it had requests, and all have their responses. Evicted last: a well-behaved client would reuse it.
    is_between_requests: bool,
    pub(crate) since: Instant,
}

impl ConnectionState {
    /// Evicts the connection if its state is still `idle`. Returns the number of its open requests, or `None` if it is not.
    pub(crate) fn evict(&self, idle: Idle) -> Option<usize> {
        let mut activity = self.lock();
        if activity.idle() != Some(idle) {
            return None;
        }
        activity.evicted = true;
        activity.wake();
        Some(activity.requests.len())
    }
}

impl Activity {
    pub(crate) fn idle(&self) -> Option<Idle> {
        let since = match (self.phase, self.requests.first()) {
            _ if self.evicted => return None,
            (Phase::Closed(since), _) => since,
            (_, None) => self.idle_since,
            (_, Some(first)) => self
                .requests
                .iter()
                .map(Request::waiting_since)
                .try_fold(first.began, |latest, since| Some(latest.max(since?)))?,
        };
        let is_between_requests = self.count > 0 && self.requests.is_empty() && !self.is_closed();
        Some(Idle { is_between_requests, since })
    }

    /// Returns the number of requests that hold a permit for a stream.
    pub(crate) fn streams(&self) -> usize {
        if self.phase == Phase::Http2 { self.requests.len() } else { 0 }
    }

    /// Returns when the connection must end, and why: a timeout, an eviction or the server's shutdown.
    pub(super) fn deadline(&self, timeouts: &Timeouts, stop: Option<Stop>) -> (Instant, CloseReason) {
        let deadline = match (self.phase, self.requests.first(), self.goaway, self.head) {
            _ if self.evicted => (self.idle_since, CloseReason::Evicted),
            (Phase::Closed(since), ..) => (since + timeouts.linger, CloseReason::LingerTimeout),
            (Phase::Accepted | Phase::Handshake, ..) => (self.idle_since + timeouts.head, CloseReason::SlowHandshake),
            (_, Some(oldest), ..) => {
                ((self.last_progress + timeouts.stall).min(oldest.began + timeouts.request), CloseReason::Stalled)
            }
            (.., Some(since), _) => (since.max(self.idle_since) + timeouts.linger, CloseReason::LingerTimeout),
            (.., Some(since)) => (since + timeouts.head, CloseReason::SlowHead),
            (_, None, None, None) => (self.idle_since + timeouts.idle, CloseReason::Idle),
        };
        let blocked = self.blocked.map(|since| (since + timeouts.stall, CloseReason::Stalled));
        let last_request = stop
            .filter(|_| self.is_quiet())
            .map(|stop| (self.idle_since.max(stop.since) + timeouts.last_request, CloseReason::Stopping));
        let grace = stop.map(|stop| (stop.shutdown_deadline, CloseReason::ShutdownTimeout));
        [blocked, last_request, grace].into_iter().flatten().fold(
            deadline,
            |first, next| {
                if next.0 < first.0 { next } else { first }
            },
        )
    }

    /// Returns `true` if no request is arriving or running, and no response is being sent. Never for HTTP/2: it has `GOAWAY`.
    fn is_quiet(&self) -> bool {
        let is_open = matches!(self.phase, Phase::Accepted | Phase::Http1);
        let is_busy = self.head.is_some() || self.blocked.is_some() || self.bytes_waiting;
        is_open && self.requests.is_empty() && !is_busy
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::state::WaitsFor::{Body, Service, Window};
    use super::*;
    use crate::ServerConfig;
    use crate::registry::Registry;
    use crate::request::Peer;

    fn state() -> Arc<ConnectionState> {
        let peer = Peer { address: ([127, 0, 0, 1], 1).into(), is_tls: false };
        ConnectionState::new(peer, Registry::new(ServerConfig::default()))
    }

    #[test]
    fn progress_does_not_extend_request_timeout() {
        let (state, timeouts) = (state(), Timeouts::default());
        let mut activity = state.lock();
        let (id, _) = activity.begin(0);
        let began = activity.requests[0].began;
        assert_eq!(activity.deadline(&timeouts, None), (began + timeouts.stall, CloseReason::Stalled));
        activity.record_sent(id);
        assert_eq!(activity.deadline(&timeouts, None), (activity.last_progress + timeouts.stall, CloseReason::Stalled));
        let short = Timeouts { request: timeouts.stall, ..timeouts };
        assert_eq!(activity.deadline(&short, None), (began + short.request, CloseReason::Stalled));
        assert!(activity.go_away() && !activity.go_away());
        activity.end_request(id);
        assert_eq!(
            activity.deadline(&timeouts, None),
            (activity.idle_since + timeouts.linger, CloseReason::LingerTimeout)
        );
    }

    #[test]
    fn connection_is_idle_when_all_requests_wait_for_client() {
        let state = state();
        let mut activity = state.lock();
        let [(one, _), (two, _)] = [activity.begin(0), activity.begin(0)];
        let since = |activity: &Activity| activity.idle().map(|idle| idle.since);
        assert_eq!(since(&activity), None);
        activity.wait(one, Window);
        assert_eq!(since(&activity), None);
        activity.wait(two, Body);
        let window_since = activity.requests[0].waiting_since();
        assert_eq!(since(&activity), window_since.max(Some(activity.requests[1].began)));
        // A byte of the body arrived.
        activity.wait(two, Service);
        assert_eq!(since(&activity), None);
        activity.wait(two, Body);
        assert_eq!(activity.requests[1].waiting_since(), Some(activity.requests[1].began));
        // A part of the response was taken.
        activity.record_sent(one);
        assert_eq!(since(&activity), Some(activity.last_progress));
    }

    #[test]
    fn used_connection_without_requests_is_evicted_last() {
        let (fresh, used) = (state(), state());
        let (id, _) = used.lock().begin(0);
        used.lock().end_request(id);
        let between_requests = used.lock().idle();
        assert!(fresh.lock().idle() < between_requests);
        used.lock().begin(0);
        used.lock().wait(2, Body);
        assert!(used.lock().idle() < between_requests);
    }

    #[test]
    fn request_or_body_cancels_eviction() {
        let (state, timeouts) = (state(), Timeouts::default());
        let assert_evicts = || {
            let idle = state.lock().idle().unwrap();
            state.evict(idle).unwrap();
            assert!(state.evict(idle).is_none());
            assert_eq!(state.lock().deadline(&timeouts, None).1, CloseReason::Evicted);
        };
        assert_evicts();
        let (id, _) = state.lock().begin(0);
        assert_eq!(state.lock().deadline(&timeouts, None).1, CloseReason::Stalled);
        state.lock().wait(id, Body);
        assert_evicts();
        state.lock().wait(id, Service);
        assert_eq!(state.lock().deadline(&timeouts, None).1, CloseReason::Stalled);
    }

    #[test]
    fn closed_connection_is_idle_since_its_close() {
        let state = state();
        let mut activity = state.lock();
        activity.idle_since -= Duration::from_secs(1);
        activity.close();
        assert!(activity.idle().unwrap().since > activity.idle_since);
    }

    #[test]
    fn busy_connection_ends_at_shutdown_timeout() {
        let since = Instant::now();
        let timeouts = Timeouts::default();
        let stop = Stop { since, shutdown_deadline: since + timeouts.grace };
        let reason = |change: fn(&mut Activity)| {
            let state = state();
            let mut activity = state.lock();
            change(&mut activity);
            activity.deadline(&timeouts, Some(stop)).1
        };
        assert_eq!(reason(|_| {}), CloseReason::Stopping);
        let changes: [fn(&mut Activity); 4] = [
            |activity| activity.block(true),
            |activity| activity.bytes_waiting = true,
            |activity| activity.record_received(1),
            |activity| _ = activity.begin(0),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            assert_eq!(reason(change), CloseReason::ShutdownTimeout, "{index}");
        }
    }
}
