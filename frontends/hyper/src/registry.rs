//! [`Registry`]: the open connections of a listener, and which of them are evicted when the server is full.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::ServerConfig;
use crate::connection::{Activity, ConnectionState, Idle};

/// Delay between two searches for connections to evict.
pub(crate) const SEARCH_INTERVAL: Duration = Duration::from_millis(50);

/// Divisor that bounds a search: it finds at most a sixteenth of the connections, or frees a sixteenth of the streams.
const EVICTION_DIVISOR: u32 = 16;

/// State that all connections of a listener share.
pub(crate) struct Registry {
    pub(crate) config: ServerConfig,
    /// Permits for HTTP/2 requests, held until the response is complete.
    streams: Arc<Semaphore>,
    open: Mutex<OpenConnections>,
    stop: OnceLock<Stop>,
    /// Whether the log has a warning about a trusted proxy that reports no client.
    pub(crate) warned_of_proxy: AtomicBool,
}

#[derive(Default)]
struct OpenConnections {
    connections: HashMap<u64, Arc<ConnectionState>>,
    next_id: u64,
    /// Idle connections; the last element is evicted next.
    candidates: Vec<(Idle, Arc<ConnectionState>)>,
    /// When idle connections with streams may be searched for again.
    next_search: Option<Instant>,
}

/// The shutdown of the server.
#[derive(Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) since: Instant,
    pub(crate) shutdown_deadline: Instant,
}

impl Registry {
    pub(crate) fn new(config: ServerConfig) -> Arc<Self> {
        let streams = Arc::new(Semaphore::new(config.limits.outstanding_streams as usize));
        let (open, stop, warned_of_proxy) = Default::default();
        Arc::new(Self { config, streams, open, stop, warned_of_proxy })
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. Returns its id.
    pub(crate) fn add(&self, state: &Arc<ConnectionState>) -> u64 {
        let mut open = self.lock();
        open.next_id += 1;
        let id = open.next_id;
        open.connections.insert(id, state.clone());
        id
    }

    pub(crate) fn remove(&self, id: u64) {
        let ended = self.lock().connections.remove(&id);
        // An ended connection may still be a candidate; evicting it would not make room.
        ended.inspect(|state| state.lock().end());
    }

    /// Notifies all connections that the server stops.
    pub(crate) fn stop(&self, shutdown_deadline: Instant) {
        let _ = self.stop.set(Stop { since: Instant::now(), shutdown_deadline });
        self.lock().connections.values().for_each(|state| state.lock().wake());
    }

    pub(crate) fn stopping(&self) -> Option<Stop> {
        self.stop.get().copied()
    }

    /// Evicts an idle connection, in the order of [`Idle`] at the last search. Returns `false` if none can be evicted.
    pub(crate) fn evict_one(&self) -> bool {
        let open = &mut *self.lock();
        for has_searched in [false, true] {
            if has_searched {
                open.candidates = self.idle(&open.connections, |_| true);
                open.candidates.truncate(self.config.limits.connections.div_ceil(EVICTION_DIVISOR) as usize);
                open.candidates.reverse();
            }
            while let Some((idle, state)) = open.candidates.pop() {
                if state.evict(idle).is_some() {
                    return true;
                }
            }
        }
        false
    }

    /// Returns a permit for an HTTP/2 request. If none is free, evicts idle connections with open requests, for later calls.
    pub(crate) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.streams.clone().try_acquire_owned().ok();
        if permit.is_none() {
            self.free_streams();
        }
        permit
    }

    fn free_streams(&self) {
        let (now, open) = (Instant::now(), &mut *self.lock());
        if open.next_search.is_some_and(|next| now < next) {
            return;
        }
        open.next_search = Some(now + SEARCH_INTERVAL);
        let mut remaining = self.config.limits.outstanding_streams.div_ceil(EVICTION_DIVISOR) as usize;
        for (idle, state) in self.idle(&open.connections, |activity| activity.streams() > 0) {
            if remaining == 0 {
                break;
            }
            remaining = remaining.saturating_sub(state.evict(idle).unwrap_or(0));
        }
    }

    /// Returns the connections that have been idle for long enough, in the order of their eviction.
    fn idle(
        &self,
        connections: &HashMap<u64, Arc<ConnectionState>>,
        is_candidate: impl Fn(&Activity) -> bool,
    ) -> Vec<(Idle, Arc<ConnectionState>)> {
        let Some(latest) = Instant::now().checked_sub(self.config.timeouts.reclaim) else { return Vec::new() };
        let idle = |state: &Arc<ConnectionState>| {
            let activity = state.lock();
            let idle = activity.idle().filter(|idle| idle.since <= latest && is_candidate(&activity))?;
            Some((idle, state.clone()))
        };
        let mut evictable: Vec<_> = connections.values().filter_map(idle).collect();
        evictable.sort_unstable_by_key(|(idle, _)| *idle);
        evictable
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    use super::*;
    use crate::connection::{Phase, WaitsFor};
    use crate::request::Peer;
    use crate::{Limits, Timeouts};

    const PEER: Peer = Peer { address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1), is_tls: false };

    fn without_reclaim_delay(limits: Limits) -> Arc<Registry> {
        let timeouts = Timeouts { reclaim: Duration::ZERO, ..Timeouts::default() };
        Registry::new(ServerConfig { timeouts, limits, ..ServerConfig::default() })
    }

    #[test]
    fn ended_connection_is_not_evicted_instead_of_open_one() {
        let registry = without_reclaim_delay(Limits { connections: 2 * EVICTION_DIVISOR, ..Limits::default() });
        let connections: Vec<_> = (0..3)
            .map(|_| {
                let state = ConnectionState::new(PEER, registry.clone());
                (registry.add(&state), state)
            })
            .collect();
        // One search finds the first two.
        assert!(registry.evict_one());
        registry.remove(connections[1].0);
        assert!(registry.evict_one());
        assert!(!registry.evict_one());
        assert!(connections.iter().all(|(_, state)| state.lock().idle().is_none()));
    }

    #[test]
    fn streams_are_freed_by_one_search_per_delay() {
        let registry = without_reclaim_delay(Limits { outstanding_streams: EVICTION_DIVISOR, ..Limits::default() });
        let _permits: Vec<_> = (0..EVICTION_DIVISOR).map(|_| registry.stream().unwrap()).collect();
        let add = || {
            let state = ConnectionState::new(PEER, registry.clone());
            registry.add(&state);
            state
        };
        let without_streams = add();
        let stalled: Vec<_> = (0..3)
            .map(|_| {
                let state = add();
                state.lock().end_handshake(Phase::Http2);
                let (request, _) = state.lock().begin(0);
                state.lock().wait(request, WaitsFor::Window);
                state
            })
            .collect();
        let evicted = || {
            assert!(registry.stream().is_none());
            stalled.iter().filter(|state| state.lock().idle().is_none()).count()
        };
        assert_eq!(evicted(), 1);
        assert_eq!(evicted(), 1);
        let next_search = registry.lock().next_search.replace(Instant::now());
        assert!(next_search > Some(Instant::now()));
        assert_eq!(evicted(), 2);
        assert!(without_streams.lock().idle().is_some());
    }
}
