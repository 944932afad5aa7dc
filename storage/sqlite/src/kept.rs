//! [`Kept`]: what was looked up, for as long as nothing is committed.

use std::fmt;
use std::hash::Hash;

use quick_cache::sync::Cache;

use crate::connection::FileVersion;
use crate::wal_index::WalState;

/// The state of a database before a look-up began. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Another one each time that somebody begins to watch.
    pub(crate) watch: u64,
    /// Tells states apart that an empty WAL does not, should one come back by a recovery.
    pub(crate) file: FileVersion,
    pub(crate) wal: WalState,
}

/// Values by key, up to a number of them, each with its moment.
pub(crate) struct Kept<K, V>(Cache<K, (Moment, V)>);

impl<K: Hash + Eq, V: Clone> Kept<K, V> {
    pub(crate) fn new(items: usize) -> Self {
        Self(Cache::new(items))
    }

    /// The value, if it was found at `moment`.
    pub(crate) fn get(&self, key: &K, moment: Moment) -> Option<V> {
        self.0.get(key).filter(|(found_at, _)| *found_at == moment).map(|(_, value)| value)
    }

    pub(crate) fn put(&self, key: K, moment: Moment, value: V) {
        self.0.insert(key, (moment, value));
    }
}

impl<K, V> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}
