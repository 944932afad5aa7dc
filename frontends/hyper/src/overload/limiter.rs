//! [`ConnectionLimiter`]: bounds the connections of a listener. Where it is full, the one of least [`Priority`] is evicted.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

use super::registry::Registry;
use super::{PAUSE, Priority};
use crate::ServerConfig;
use crate::connection::ConnectionState;

/// How long a task may take to notice that its connection has to end.
pub(crate) const LAST_TURN: Duration = Duration::from_secs(1);

/// One look at all connections finds as many to evict as the sixteenth part of them.
const BATCH: u32 = 16;

pub(crate) struct ConnectionLimiter {
    config: Arc<ServerConfig>,
    semaphore: Arc<Semaphore>,
    registry: Arc<Registry>,
    next_id: u64,
    /// Who can be evicted, the next one last.
    candidates: Vec<(Priority, Arc<ConnectionState>)>,
}

/// Lets one connection be open, until this is dropped.
pub(crate) struct Permit {
    id: u64,
    registry: Arc<Registry>,
    _semaphore: OwnedSemaphorePermit,
}

impl ConnectionLimiter {
    pub(crate) fn new(config: Arc<ServerConfig>, registry: Arc<Registry>) -> Self {
        let semaphore = Arc::new(Semaphore::new(config.limits.connections as usize));
        Self { config, semaphore, registry, next_id: 0, candidates: Vec::new() }
    }

    /// Waits until there may be another connection, and evicts others for it.
    pub(crate) async fn permit(&mut self) -> Permit {
        let semaphore = loop {
            if let Ok(semaphore) = self.semaphore.clone().try_acquire_owned() {
                break semaphore;
            }
            let pause = if self.evict_one() { LAST_TURN } else { PAUSE };
            tokio::select! {
                semaphore = self.semaphore.clone().acquire_owned() => break semaphore.expect("nobody closes the semaphore"),
                () = sleep(pause) => {}
            }
        };
        self.next_id += 1;
        Permit { id: self.next_id, registry: self.registry.clone(), _semaphore: semaphore }
    }

    pub(crate) async fn drained(&self) {
        let _all = self.semaphore.acquire_many(self.config.limits.connections).await;
    }

    /// Evicts one connection, if there is one that can be. One look at all of them finds many.
    fn evict_one(&mut self) -> bool {
        for looked in [false, true] {
            if looked {
                self.find_candidates();
            }
            while let Some((seen, state)) = self.candidates.pop() {
                // It may have done something else meanwhile.
                let is_same = |now: Priority| now.stage == seen.stage && now.since <= seen.since;
                if state.evict_if(|now| now.priority().is_some_and(is_same)) {
                    return true;
                }
            }
        }
        false
    }

    fn find_candidates(&mut self) {
        let Some(latest) = Instant::now().checked_sub(self.config.timeouts.reclaim) else { return };
        self.candidates = self.registry.ranked(|state| state.priority().filter(|priority| priority.since <= latest));
        self.candidates.truncate(self.config.limits.connections.div_ceil(BATCH) as usize);
        self.candidates.reverse();
    }
}

/// Who stops serving leaves no connection behind.
impl Drop for ConnectionLimiter {
    fn drop(&mut self) {
        self.registry.stop(Instant::now());
    }
}

impl Permit {
    pub(crate) fn register(&self, state: &Arc<ConnectionState>) {
        self.registry.lock().insert(self.id, state.clone());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let ended = self.registry.lock().remove(&self.id);
        // It makes room for nobody, should it still be among the candidates.
        if let Some(state) = ended {
            state.evict_if(|_| true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Peer;
    use crate::{Limits, Timeouts};

    #[tokio::test]
    async fn a_connection_that_has_ended_by_itself_is_not_evicted_in_the_place_of_one_that_is_open() {
        let timeouts = Timeouts { reclaim: Duration::ZERO, ..Timeouts::default() };
        let limits = Limits { connections: 2 * BATCH, ..Limits::default() };
        let config = Arc::new(ServerConfig { timeouts, limits, ..ServerConfig::default() });
        let mut limiter = ConnectionLimiter::new(config.clone(), Arc::default());
        let peer = Peer { address: ([127, 0, 0, 1], 1).into(), is_tls: false };
        let mut connections = Vec::new();
        for _ in 0..3 {
            let (permit, state) = (limiter.permit().await, ConnectionState::new(peer, config.clone(), Arc::default()));
            permit.register(&state);
            connections.push((permit, state));
        }
        // One look finds the first two.
        assert!(limiter.evict_one());
        drop(connections.remove(1).0);
        assert!(limiter.evict_one());
        assert!(connections.iter().all(|(_, state)| state.lock().priority().is_none()));
    }
}
