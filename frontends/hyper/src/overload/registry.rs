//! [`Registry`]: the states of all open connections, by the numbers of their permits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::connection::{Activity, ConnectionState, Shutdown};

#[derive(Default)]
pub(crate) struct Registry {
    connections: Mutex<HashMap<u64, Arc<ConnectionState>>>,
    pub(crate) shutdown: Arc<Shutdown>,
}

impl Registry {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<ConnectionState>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all connections that the server stops; a second time, that the grace ends earlier.
    pub(crate) fn stop(&self, end_of_grace: Instant) {
        self.shutdown.begin(end_of_grace);
        self.lock().values().for_each(|state| state.lock().wake());
    }

    /// The connections that `rank` does not leave out, the least first.
    pub(super) fn ranked<R: Ord>(&self, rank: impl Fn(&Activity) -> Option<R>) -> Vec<(R, Arc<ConnectionState>)> {
        let ranked = |state: &Arc<ConnectionState>| Some((rank(&state.lock())?, state.clone()));
        let mut found: Vec<_> = self.lock().values().filter_map(ranked).collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }
}
