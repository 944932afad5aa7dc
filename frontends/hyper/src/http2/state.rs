//! [`Http2State`]: the part of a connection's state that is particular to HTTP/2.

use std::sync::Arc;

use tokio::time::Instant;

use crate::connection::DataRate;
use crate::overload::OutstandingStreams;
use crate::{CloseReason, Timeouts};

/// Where more than this is read between two requests, hyper keeps up to 90 KiB of memory while the connection lasts.
const USUAL_READ: usize = 8 * 1024;

/// The requests that are not answered to the last byte: until then hyper or h2 keeps the response's data.
pub(crate) struct Http2State {
    requests: Vec<Outstanding>,
    next_id: u64,
    /// When the last of them ended; at first, when the connection began.
    idle: Instant,
    goaway: Option<Instant>,
    rate: DataRate,
    /// Bytes read since the last request began. Once they exceed [`USUAL_READ`], they are counted for good.
    read: usize,
    /// It had requests when it was evicted.
    pub(crate) is_released: bool,
    streams: Arc<OutstandingStreams>,
}

struct Outstanding {
    id: u64,
    began: Instant,
    /// When it began, its body arrived, or more of its response went out.
    moved: Instant,
    /// Whether the client is waited for: to send the body that the service wants, or to take the response.
    waits: bool,
}

impl Http2State {
    pub(crate) fn new(streams: Arc<OutstandingStreams>) -> Self {
        let now = Instant::now();
        Self {
            requests: Vec::new(),
            next_id: 0,
            idle: now,
            goaway: None,
            rate: DataRate::default(),
            read: 0,
            is_released: false,
            streams,
        }
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes);
    }

    /// A request has come. It gets a number, unless it is refused.
    pub(crate) fn begin(&mut self, now: Instant) -> Option<u64> {
        if self.is_released || !self.streams.try_add(self.requests.len()) {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        if self.read <= USUAL_READ {
            self.read = 0;
        }
        self.requests.push(Outstanding { id, began: now, moved: now, waits: false });
        Some(id)
    }

    /// Notes whether the client is waited for, to send a body or to take what the service has answered; or the service is.
    pub(crate) fn wait(&mut self, id: u64, for_client: bool, now: Instant) {
        if let Some(request) = self.requests.iter_mut().find(|request| request.id == id)
            && request.waits != for_client
        {
            (request.moved, request.waits) = (now, for_client);
            self.note_taken(0, now);
        }
    }

    pub(crate) fn sent(&mut self, id: u64, bytes: usize, now: Instant) {
        if let Some(request) = self.requests.iter_mut().find(|request| request.id == id) {
            request.moved = now;
        }
        self.note_taken(bytes, now);
    }

    /// A response is out, or was reset.
    pub(crate) fn end(&mut self, id: u64, now: Instant) {
        let Some(at) = self.requests.iter().position(|request| request.id == id) else { return };
        self.requests.remove(at);
        self.streams.remove(self.requests.len());
        self.note_taken(0, now);
        self.idle = now;
    }

    /// Each response that waits asks for the least rate, so that one that is taken does not make up for all others.
    fn note_taken(&mut self, bytes: usize, now: Instant) {
        let waiting = self.requests.iter().filter(|request| request.waits).count();
        self.rate.sent(bytes / waiting.max(1), now);
        if waiting > 0 {
            self.rate.block(now);
        }
    }

    /// The connection is to be closed for the sake of others: what it has counts no more, before hyper has dropped it.
    pub(crate) fn release(&mut self) {
        while self.requests.pop().is_some() {
            self.streams.remove(self.requests.len());
            self.is_released = true;
        }
    }

    /// The client is to be told to go. Tells whether `GOAWAY` is to be sent now, which is once.
    pub(crate) fn go_away(&mut self, now: Instant) -> bool {
        let before = self.goaway;
        self.goaway.get_or_insert(now);
        before.is_none()
    }

    /// When the connection will have been silent or slow for too long, and at what. What is no request does not count.
    pub(crate) fn deadline(&self, timeouts: &Timeouts) -> (Instant, CloseReason) {
        let due = |request: &Outstanding| (request.moved + timeouts.stall).min(request.began + timeouts.request);
        if let Some(due) = self.requests.iter().map(due).min() {
            return (due, CloseReason::Stalled);
        }
        match self.goaway {
            Some(since) => (since.max(self.idle) + timeouts.linger, CloseReason::NoGoodbye),
            None if self.read > USUAL_READ => (self.idle + timeouts.idle.min(timeouts.reclaim), CloseReason::Idle),
            None => (self.idle + timeouts.idle, CloseReason::Idle),
        }
    }

    /// How many requests there are, and since when the client has sent no body, or not taken the responses at a decent rate.
    pub(crate) fn waits_for_client(&self) -> Option<(usize, Instant)> {
        Some((self.requests.len(), self.rate.behind_since()?))
    }

    /// Since when the server waits: for the client to send a body, to take responses, or for the next request.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        self.rate.behind_since().or(self.requests.is_empty().then_some(self.idle))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_client_that_takes_a_little_now_and_then_is_waited_for_all_the_time() {
        let mut state = Http2State::new(Arc::new(OutstandingStreams::new(10)));
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let ids = [state.begin(start).unwrap(), state.begin(start).unwrap()];
        assert_eq!(state.waits_for_client(), None);
        state.wait(ids[0], true, at(0));
        for seconds in 1..10 {
            state.sent(ids[0], 512, at(seconds));
            let (requests, since) = state.waits_for_client().unwrap();
            assert_eq!((requests, since.duration_since(start)), (2, Duration::from_millis(500 * seconds)));
        }
        state.sent(ids[0], 100 * 1024, at(10));
        assert_eq!(state.waits_for_client(), Some((2, at(10))));
        state.end(ids[0], at(11));
        assert_eq!((state.waits_for_client(), state.waits_since()), (None, None));
        state.end(ids[1], at(12));
        assert_eq!(state.waits_since(), Some(at(12)));
    }

    #[test]
    fn one_response_that_is_taken_does_not_make_up_for_those_that_are_not() {
        let mut state = Http2State::new(Arc::new(OutstandingStreams::new(10)));
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for _ in 0..4 {
            let id = state.begin(start).unwrap();
            state.wait(id, true, start);
        }
        for seconds in 1..10 {
            state.sent(0, 1024, at(seconds));
            let (_, since) = state.waits_for_client().unwrap();
            assert_eq!(since.duration_since(start), Duration::from_millis(250 * seconds));
        }
    }

    #[test]
    fn a_service_that_keeps_its_client_waiting_is_not_the_clients_delay() {
        let mut state = Http2State::new(Arc::new(OutstandingStreams::new(10)));
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let id = state.begin(start).unwrap();
        state.wait(id, true, at(0));
        state.wait(id, false, at(0));
        assert_eq!((state.waits_for_client(), state.waits_since()), (None, None));
        state.wait(id, true, at(9));
        assert_eq!(state.waits_for_client(), Some((1, at(9))));
    }

    #[test]
    fn what_is_released_counts_no_more_and_only_once() {
        let streams = Arc::new(OutstandingStreams::new(8));
        let mut state = Http2State::new(streams.clone());
        let now = state.idle;
        let ids: Vec<_> = (0..8).map(|_| state.begin(now).unwrap()).collect();
        assert!(!streams.try_add(20));
        state.release();
        ids.into_iter().for_each(|id| state.end(id, now));
        assert_eq!((0..100).find(|_| !streams.try_add(20)), Some(8));
    }

    #[test]
    fn a_request_has_its_time_and_progress_does_not_prolong_it() {
        let mut state = Http2State::new(Arc::new(OutstandingStreams::new(10)));
        let timeouts = Timeouts::default();
        let now = state.idle;
        assert_eq!(state.deadline(&timeouts), (now + timeouts.idle, CloseReason::Idle));
        state.received(9_000);
        assert_eq!(state.deadline(&timeouts), (now + timeouts.reclaim, CloseReason::Idle));
        let id = state.begin(now).unwrap();
        assert_eq!(state.deadline(&timeouts), (now + timeouts.stall, CloseReason::Stalled));
        state.sent(id, 1, now + Duration::from_secs(20));
        assert_eq!(state.deadline(&timeouts), (now + Duration::from_secs(50), CloseReason::Stalled));
        state.sent(id, 1, now + Duration::from_secs(40));
        assert_eq!(state.deadline(&timeouts), (now + timeouts.request, CloseReason::Stalled));
        assert!(state.go_away(now));
        assert!(!state.go_away(now));
        state.end(id, now + Duration::from_secs(41));
        assert_eq!(state.deadline(&timeouts), (now + Duration::from_secs(42), CloseReason::NoGoodbye));
    }
}
