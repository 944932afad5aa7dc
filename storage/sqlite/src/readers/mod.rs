//! [`Readers`]: read-only connections, one for each call that runs at the same time, and cached lookups.

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

/// How long the lookup of a credential waits for another program's lock. With it and two calls for courses, a request waits a
/// second at most (decision P10).
pub(crate) const CREDENTIAL_WAIT: Duration = Duration::from_millis(600);
/// How long a call for an account's courses or revision waits for another program's lock.
pub(crate) const COURSES_WAIT: Duration = Duration::from_millis(200);
/// How long a call of administration waits for another program's lock.
pub(crate) const ADMINISTRATION_WAIT: Duration = Duration::from_secs(5);
/// Delay between two attempts to read a locked database.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Held shared by every read transaction of this process and by the opening of every connection to read, alone by what closes
/// the connections to a file that was replaced.
///
/// A file that was put in the place of another may share its `-shm`, and closing that for the old file drops the locks of
/// the new one's readers (POSIX).
static FILES: RwLock<()> = RwLock::new(());

/// Lookups by key, each with the version of the file that it is valid in.
pub(crate) type Cache<K, V> = sync::Cache<K, (Version, V)>;

/// The read-only connections to a database. A read takes one at rest, works on its own thread without waiting, and puts it
/// back; so there are never more than threads that read.
pub(crate) struct Readers {
    database: Database,
    /// What is open of the file at the path; `None` before the first read.
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

    /// Runs `read` on a connection to the file at the path, offloaded while reads are slow. It fails if the database is locked.
    /// The connection is closed after any other error.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Reader) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.offload.run(|| {
            loop {
                let _shared = self.current()?;
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

    /// Runs `attempt`, which fails if the database is locked. Then it is offloaded and runs again, until it finds no lock or
    /// `wait` is over. SQLite's own busy handler would keep [`FILES`] meanwhile.
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

    /// Returns the entry of `cache` for `key` if nothing was committed since, else what `read` finds. What is absent is not
    /// cached.
    pub(crate) fn read_cached<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &Cache<K, V>,
        key: &K,
        read: impl FnOnce(&Reader) -> rusqlite::Result<Option<V>>,
    ) -> Result<Option<V>, StorageError> {
        // Found before the read: what is committed in between then counts as newer than what was read.
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

    /// Returns the version of the file at the path; `None` if only a transaction tells what is in it: without a WAL, and while
    /// the index of the WAL is being replaced.
    pub(crate) fn version(&self) -> Result<Option<Version>, StorageError> {
        let known = self.generation().as_ref().and_then(|generation| generation.known_version(nanos()));
        if known.is_some() {
            return Ok(known);
        }
        let _shared = self.current()?;
        Ok(self.generation_mut().as_mut().and_then(Generation::version))
    }

    /// Closes what is open of a file that was replaced.
    pub(crate) fn close_replaced(&self) -> Result<(), StorageError> {
        let is_at_path = {
            let _shared = shared();
            self.check()?
        };
        if !is_at_path {
            let _alone = alone();
            if !self.check()? {
                *self.generation_mut() = None;
            }
        }
        Ok(())
    }

    /// Makes the generation that of the file at the path, and keeps it while the guard lives.
    fn current(&self) -> Result<RwLockReadGuard<'static, ()>, StorageError> {
        let guard = shared();
        let is_recent = self.generation().as_ref().is_some_and(|generation| generation.is_recent(nanos()));
        if is_recent || self.check()? {
            return Ok(guard);
        }
        drop(guard);
        let alone = alone();
        if !self.check()? {
            *self.generation_mut() = None;
            let opened = Generation::open(&self.database)?;
            *self.generation_mut() = opened;
        }
        drop(alone);
        // Whichever generation it is by now, it was checked after this call began.
        Ok(shared())
    }

    /// Whether the generation is of the file that stands at the path now.
    fn check(&self) -> Result<bool, StorageError> {
        let (began, file) = (nanos(), self.database.file_version()?);
        Ok(self.generation_mut().as_mut().is_some_and(|generation| generation.check(file, began)))
    }

    /// Opens a connection to the file of the generation; `None` if another one stands at the path. A recent check is not enough
    /// for it: to close a connection to the wrong file would drop locks.
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

fn shared() -> RwLockReadGuard<'static, ()> {
    FILES.read().unwrap_or_else(PoisonError::into_inner)
}

fn alone() -> RwLockWriteGuard<'static, ()> {
    FILES.write().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _alone = alone();
        *self.generation_mut() = None;
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
