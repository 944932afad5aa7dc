//! [`Cache`]: lookups, valid until something is committed.

use crate::sync;

/// The version of a database before a look-up began. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Another one for each watcher.
    pub(crate) epoch: u64,
    /// Of the states that the watcher has seen, one after the other.
    pub(crate) number: u64,
}

/// Lookups by key, each with the version of the file that it is valid in.
pub(crate) type Cache<K, V> = sync::Cache<K, (Version, V)>;
