//! [`Registry`]: the states of all open connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::connection::{Activity, ConnectionState};

/// The states of all open connections, by the numbers of their permits. The end of the server is told to all of them here.
#[derive(Default)]
pub(crate) struct Registry {
    connections: Mutex<HashMap<u64, Arc<ConnectionState>>>,
    end_of_grace: Mutex<Option<Instant>>,
}

impl Registry {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<ConnectionState>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another connection is open.
    pub(super) fn register(&self, id: u64, state: &Arc<ConnectionState>) {
        self.lock().insert(id, state.clone());
        let end_of_grace = *self.end_of_grace.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end_of_grace) = end_of_grace {
            state.stop(end_of_grace);
        }
    }

    /// Tells all connections that the server stops, also those that are still to be registered; a second time, that the grace
    /// ends earlier.
    pub(crate) fn stop(&self, end_of_grace: Instant) {
        *self.end_of_grace.lock().unwrap_or_else(PoisonError::into_inner) = Some(end_of_grace);
        self.lock().values().for_each(|state| state.stop(end_of_grace));
    }

    /// The connections that `rank` does not leave out, the least first.
    pub(super) fn ranked<R: Copy + Ord>(
        &self,
        rank: impl Fn(&Activity) -> Option<R>,
    ) -> Vec<(R, Arc<ConnectionState>)> {
        let ranked = |state: &Arc<ConnectionState>| Some((rank(&state.lock())?, state.clone()));
        let mut found: Vec<_> = self.lock().values().filter_map(ranked).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found
    }
}
