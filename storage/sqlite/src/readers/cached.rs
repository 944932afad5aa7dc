//! Looking up what is mostly kept from before.

use std::hash::Hash;
use std::sync::MutexGuard;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use super::Readers;
use crate::cache::{Cache, Kept, Version};
use crate::changes::Seen;
use crate::file::FileVersion;

impl Readers {
    /// What `cache` has for `key` if nothing was committed since that may change it, else what `read` finds. What is absent is not cached.
    pub(crate) fn read_cached<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &Cache<K, V>,
        key: &K,
        read: impl FnOnce(&Connection) -> rusqlite::Result<Option<V>>,
    ) -> Result<Option<V>, StorageError> {
        // Looked at before the reading: what is committed in between is then taken for newer than what was read.
        let (file, version) = self.version()?;
        let Some(version) = version else { return self.read_from(file, read) };
        let kept = match cache.get(key) {
            Some(kept) if kept.version == version => return Ok(Some(kept.value)),
            kept => kept,
        };
        // The changes, too: what is read afterwards has them all.
        let (look, unchanged) = match self.changes(file, version)? {
            None => (0, None),
            Some(seen) => {
                let is_changed =
                    |kept: &Kept<V>| seen.is_changed_since(kept.look, cache.account(key, &kept.value).as_ref());
                (seen.look(), kept.filter(|kept| !is_changed(kept)))
            }
        };
        let (value, look) = match unchanged {
            Some(kept) => (Some(kept.value), look),
            None => {
                let value = self.read_from(file, read)?;
                // What was committed meanwhile may be taken back by a backup before the next look.
                let is_of_look = look > 0 && self.version().is_ok_and(|(_, now)| now == Some(version));
                (value, if is_of_look { look } else { 0 })
            }
        };
        if let Some(value) = &value {
            cache.insert(key.clone(), Kept { value: value.clone(), version, look });
        }
        Ok(value)
    }

    /// Which accounts were changed up to that version of the file; none where that is not told.
    fn changes(&self, file: FileVersion, version: Version) -> Result<Option<MutexGuard<'_, Seen>>, StorageError> {
        let Some(changes) = &self.changes else { return Ok(None) };
        if let Some(seen) = changes.seen_at_once().filter(|seen| seen.is_at(version)) {
            return Ok(Some(seen));
        }
        // Who waits for another's look leaves the thread as who looks does.
        self.slow.run(|| {
            let mut seen = changes.seen();
            if !seen.is_at(version) {
                let found = self.read_at_once(file, |connection| seen.read(connection))?;
                seen.add(version, found);
            }
            Ok(Some(seen))
        })
    }
}
