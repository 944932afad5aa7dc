//! Cached lookups.

use std::hash::Hash;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use super::Readers;
use crate::cache::Cache;

impl Readers {
    /// Returns the entry of `cache` for `key` if nothing was committed since, else what `read` finds. What is absent is not cached.
    pub(crate) fn read_cached<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &Cache<K, V>,
        key: &K,
        read: impl FnOnce(&Connection) -> rusqlite::Result<Option<V>>,
    ) -> Result<Option<V>, StorageError> {
        // Found before the read: what is committed in between then counts as newer than what was read.
        let (file, version) = self.version()?;
        let Some(version) = version else { return self.read_from(file, read) };
        if let Some((known, value)) = cache.get(key)
            && known == version
        {
            return Ok(Some(value));
        }
        let value = self.read_from(file, read)?;
        if let Some(value) = &value {
            cache.insert(key.clone(), (version, value.clone()));
        }
        Ok(value)
    }
}
