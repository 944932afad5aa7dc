//! [`Readers`]: read-only connections, one for each concurrent call, and cached lookups.

mod generation;

use std::hash::Hash;
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::is_locked;
use crate::read_offload::ReadOffload;
use crate::sync::{self, Mutex, RwLock, nanos};
use generation::Generation;
pub(crate) use generation::{Reader, Version};

/// Maximum wait of a credential's lookup for another program's lock. A request makes one lookup and at most two calls for
/// courses, so it waits for at most a second (decision P10).
pub(crate) const CREDENTIAL_WAIT: Duration = Duration::from_millis(600);
/// Maximum wait of a call for an account's courses or revision for another program's lock.
pub(crate) const COURSES_WAIT: Duration = Duration::from_millis(200);
/// Maximum wait of a call of administration for another program's lock.
pub(crate) const ADMINISTRATION_WAIT: Duration = Duration::from_secs(5);
/// Delay between two attempts to read a locked database.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Lock on the files of all databases. Every read by [`Readers`] holds it shared, also while it opens a connection. Closing
/// the connections to a replaced file, or of a dropped [`Readers`], holds it exclusively.
///
/// A file and its replacement may share a `-shm`: closing it for the old file drops the locks of the new one's readers (POSIX).
static FILES: RwLock<()> = RwLock::new(());

/// Cache of lookups by key, each with the version of the file in which it is valid.
pub(crate) type Cache<K, V> = sync::Cache<K, (Version, V)>;

/// Read-only connections to a database. A read takes an idle connection, or opens one if none is idle, and puts it back.
/// So there is at most one for each concurrent read, and one more that keeps the file in WAL mode.
pub(crate) struct Readers {
    database: Database,
    /// Open connections to the file at the path; `None` before the first read.
    generation: RwLock<Option<Generation>>,
    pub(crate) offload: ReadOffload,
    /// Keeps a database in memory alive.
    _anchor: Option<Mutex<Connection>>,
}

impl Readers {
    pub(crate) fn new(database: Database, anchor: Option<Connection>) -> Self {
        let _anchor = anchor.map(Mutex::new);
        Self { database, generation: RwLock::new(None), offload: ReadOffload::default(), _anchor }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Runs `read` on a connection to the file at the path, offloaded while reads are slow. Fails immediately if the
    /// database is locked. Any other error closes the connection.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Reader) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.offload.run(|| {
            loop {
                let _shared = self.lock_current()?;
                let idle = self.generation().as_ref().and_then(Generation::take);
                let Some(reader) = idle.map_or_else(|| self.open(), |reader| Ok(Some(reader)))? else { continue };
                let outcome = reader.run(read);
                let is_usable = outcome.is_ok() || outcome.as_ref().is_err_and(is_locked);
                if let (true, Some(generation)) = (is_usable, self.generation().as_ref()) {
                    generation.put_back(reader);
                }
                return outcome;
            }
        })
    }

    /// Like [`read`](Self::read), but waits for another program's lock.
    pub(crate) fn read_within<T>(
        &self,
        wait: Duration,
        mut read: impl FnMut(&Reader) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        self.retry_while_locked(wait, || self.read(&mut read))
    }

    /// Runs `attempt`. If the database is locked, repeats it, offloaded, until the lock is released or `wait` has passed.
    /// SQLite's own busy handler would wait while [`FILES`] is held.
    pub(crate) fn retry_while_locked<T>(
        &self,
        wait: Duration,
        mut attempt: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let outcome = attempt();
        if !outcome.as_ref().is_err_and(is_locked) {
            return outcome;
        }
        let began = Instant::now();
        self.offload.offload(|| {
            loop {
                thread::sleep(RETRY_DELAY);
                let outcome = attempt();
                if began.elapsed() >= wait || !outcome.as_ref().is_err_and(is_locked) {
                    return outcome;
                }
            }
        })
    }

    /// Returns the entry of `cache` for `key` if nothing was committed since, otherwise the result of `read`. A missing
    /// value is not cached.
    pub(crate) fn read_cached<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &Cache<K, V>,
        key: &K,
        read: impl FnOnce(&Reader) -> rusqlite::Result<Option<V>>,
    ) -> Result<Option<V>, StorageError> {
        // Determined before the read, so that a commit during the read invalidates the cached value.
        let Some(version) = self.version()? else { return self.read(read) };
        if let Some((known, value)) = cache.get(key)
            && known == version
        {
            return Ok(Some(value));
        }
        let value = self.read(read)?;
        if let Some(value) = &value {
            cache.insert(key.clone(), (version, value.clone()));
        }
        Ok(value)
    }

    /// Returns the version of the file at the path. `None` without a WAL, and while the header of the WAL index is being
    /// replaced: then only a transaction can detect changes.
    pub(crate) fn version(&self) -> Result<Option<Version>, StorageError> {
        let known = self.generation().as_ref().and_then(|generation| generation.known_version(nanos()));
        if known.is_some() {
            return Ok(known);
        }
        let _shared = self.lock_current()?;
        Ok(self.generation_mut().as_mut().and_then(Generation::version))
    }

    /// Closes the connections to a file that was replaced.
    pub(crate) fn close_replaced(&self) -> Result<(), StorageError> {
        let is_at_path = {
            let _shared = lock_shared();
            self.check()?
        };
        if !is_at_path {
            let _exclusive = lock_exclusive();
            if !self.check()? {
                *self.generation_mut() = None;
            }
        }
        Ok(())
    }

    /// Opens the file at the path unless the generation already reads it. The generation stays while the returned guard lives.
    fn lock_current(&self) -> Result<RwLockReadGuard<'static, ()>, StorageError> {
        let guard = lock_shared();
        let is_recent = self.generation().as_ref().is_some_and(|generation| generation.is_recent(nanos()));
        if is_recent || self.check()? {
            return Ok(guard);
        }
        drop(guard);
        let exclusive = lock_exclusive();
        if !self.check()? {
            *self.generation_mut() = None;
            let opened = Generation::open(&self.database)?;
            *self.generation_mut() = opened;
        }
        drop(exclusive);
        // Another thread may have changed the generation, but it was checked after this call began.
        Ok(lock_shared())
    }

    /// Returns whether the generation is of the file at the path.
    fn check(&self) -> Result<bool, StorageError> {
        let (began, file) = (nanos(), self.database.file_version()?);
        Ok(self.generation_mut().as_mut().is_some_and(|generation| generation.check(file, began)))
    }

    /// Opens a connection to the file of the generation; `None` if another file is at the path. Checks the path again,
    /// since a recent check is not enough: closing a connection to the wrong file would drop locks.
    fn open(&self) -> Result<Option<Reader>, StorageError> {
        let is_at_path = self.check()?;
        let Some(file) = self.generation().as_ref().filter(|_| is_at_path).map(Generation::file) else {
            return Ok(None);
        };
        let reader = Reader::open(&self.database, file)?;
        Ok((self.database.file_version()?.identity == file.identity).then_some(reader))
    }

    fn generation(&self) -> RwLockReadGuard<'_, Option<Generation>> {
        self.generation.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn generation_mut(&self) -> RwLockWriteGuard<'_, Option<Generation>> {
        self.generation.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock_shared() -> RwLockReadGuard<'static, ()> {
    FILES.read().unwrap_or_else(PoisonError::into_inner)
}

fn lock_exclusive() -> RwLockWriteGuard<'static, ()> {
    FILES.write().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _exclusive = lock_exclusive();
        *self.generation_mut() = None;
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
