//! [`Cache`]: what was looked up, as long as nothing is committed.

use std::hash::Hash;

use crate::file::FileVersion;
use crate::sync;
use crate::wal_index::WalState;

/// The version of a database before a look-up began. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Another one for each watcher.
    pub(crate) epoch: u64,
    /// Tells versions apart that an empty WAL does not, should one come back by a recovery. That takes two syncs and the end
    /// of a process, so a look at the file may be a millisecond old.
    pub(crate) file: FileVersion,
    pub(crate) wal: WalState,
}

/// Values by key, up to a number of entries, each with the version that it was read from.
pub(crate) struct Cache<K, V>(sync::Cache<K, (Version, V)>);

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    pub(crate) fn new(entries: usize) -> Self {
        Self(sync::Cache::new(entries))
    }

    /// The value, if it was read from that version.
    pub(crate) fn get(&self, key: &K, version: Version) -> Option<V> {
        self.0.get(key).filter(|(read_from, _)| *read_from == version).map(|(_, value)| value)
    }

    pub(crate) fn insert(&self, key: K, version: Version, value: V) {
        self.0.insert(key, (version, value));
    }
}
