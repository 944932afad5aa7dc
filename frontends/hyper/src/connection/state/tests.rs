//! Evictions on HTTP/2, between two requests and with some.

use super::*;
use crate::overload::OutstandingStreams;

/// That of a connection of HTTP/2.
fn state() -> Arc<ConnectionState> {
    let peer = Peer { address: ([127, 0, 0, 1], 1).into(), is_tls: true };
    let state = ConnectionState::new(peer, Arc::default(), Arc::default());
    state.lock().end_handshake(Some(Http2State::new(Arc::new(OutstandingStreams::new(10)))));
    state
}

#[test]
fn a_request_that_came_before_the_eviction_of_an_idle_connection_is_served() {
    let state = state();
    assert!(state.evict_if(|_| true));
    assert!(state.lock().begin_http2().is_some());
    assert!(!state.lock().evicted);
}

#[test]
fn a_connection_that_is_evicted_with_its_requests_gets_no_other() {
    let state = state();
    assert!(state.lock().begin_http2().is_some());
    assert!(state.evict_if(|_| true));
    assert!(state.lock().begin_http2().is_none());
    assert!(state.lock().evicted);
}
