//! [`Cache`]: what was looked up, as long as nothing is committed that changes it.

use std::hash::Hash;

use catalogue_core::AccountId;

use crate::sync;

/// The version of a database before a look-up began. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Another one for each watcher.
    pub(crate) epoch: u64,
    /// Of the states that the watcher has seen, one after the other.
    pub(crate) number: u64,
}

/// What was looked up.
#[derive(Clone)]
pub(crate) struct Kept<V> {
    pub(crate) value: V,
    /// It is right in this version of the file.
    pub(crate) version: Version,
    /// The look at the table of changes before it was read. 0 where no look tells whether it is still right after a commit: there
    /// is no such table, or something was committed while it was read.
    pub(crate) look: u64,
}

/// What was looked up by key, up to a number of entries.
pub(crate) struct Cache<K, V> {
    kept: sync::Cache<K, Kept<V>>,
    /// Whose change may make it another one; none where any may.
    account: fn(&K, &V) -> Option<AccountId>,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    pub(crate) fn new(entries: usize, account: fn(&K, &V) -> Option<AccountId>) -> Self {
        Self { kept: sync::Cache::new(entries), account }
    }

    pub(crate) fn get(&self, key: &K) -> Option<Kept<V>> {
        self.kept.get(key)
    }

    pub(crate) fn insert(&self, key: K, kept: Kept<V>) {
        self.kept.insert(key, kept);
    }

    pub(crate) fn account(&self, key: &K, value: &V) -> Option<AccountId> {
        (self.account)(key, value)
    }
}
