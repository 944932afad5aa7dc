//! [`Readers`]: read-only connections, one for each call that runs at the same time.

mod cached;
mod reader;

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, RwLockReadGuard};

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::Connection;

use crate::cache::Version;
use crate::connection::Database;
use crate::error::is_locked;
use crate::file::{FileIdentity, FileVersion};
use crate::locks::Locks;
use crate::monotonic::nanos;
use crate::slow_reads::SlowReads;
use crate::sync::{AtomicU64, Mutex, RwLock};
use crate::wal_watcher::{FileState, WalWatcher};
use reader::Reader;

/// How often a file may be replaced while it is opened.
const ATTEMPTS: usize = 5;

/// Read by every read transaction of this process and by whoever opens a connection, written by whoever closes connections to
/// a file that was replaced.
///
/// A file that was put in the place of another may share its `-shm`, and closing that for the old file drops the locks of
/// the new one's readers.
static CLOSING: RwLock<()> = RwLock::new(());

/// Connections at rest. A read takes one, works on its own thread without waiting, and puts it back; so there are never
/// more than threads that read.
pub(crate) struct Readers {
    database: Database,
    connections: Arc<Connections>,
    /// Those to the same file, which another program writes, for our tables in it.
    beside: Option<Arc<Connections>>,
    /// What a call waits out that meets one, before it reads again.
    pub(crate) locks: Locks,
    pub(crate) slow: SlowReads,
    /// Keeps a database in memory alive.
    _anchor: Option<Mutex<Connection>>,
}

#[derive(Default)]
struct Connections {
    idle: Mutex<Vec<Reader>>,
    watcher: WalWatcher,
    /// To which file they may be, by the last look.
    of: Mutex<Option<FileIdentity>>,
    /// How often all of them were closed.
    generation: AtomicU64,
}

impl Readers {
    pub(crate) fn new(database: Database, anchor: Option<Connection>) -> Self {
        let _anchor = anchor.map(Mutex::new);
        Self {
            database,
            connections: Arc::default(),
            beside: None,
            locks: Locks::default(),
            slow: SlowReads::default(),
            _anchor,
        }
    }

    /// Has both close their connections together: they are to one file.
    pub(crate) fn join(&mut self, other: &mut Self) {
        self.beside = Some(Arc::clone(&other.connections));
        other.beside = Some(Arc::clone(&self.connections));
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Runs `read` on a connection to the file that stands at the path. It waits for no lock, nor does `read_cached`.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.read_from(self.file()?, read)
    }

    /// The number of the file that stands at the path, among those that this process has met there. During a read it is that of
    /// the file that is read.
    pub(crate) fn generation(&self) -> u64 {
        self.connections.generation.load(Ordering::Relaxed)
    }

    /// What stands for all that is in the file now: equal only where nothing was committed between, by whichever process.
    /// Asked by a transaction where there is no WAL that can be watched.
    pub(crate) fn state(&self) -> Result<FileState, StorageError> {
        if let Some((_, Some(version))) = self.watcher().version_lately(nanos()) {
            return Ok(FileState::Wal(version));
        }
        self.slow.run(|| {
            for _ in 0..ATTEMPTS {
                let file = self.file()?;
                let _not_closing = not_closing();
                if self.connections.may_be_to(file)
                    && let Some(state) = self.watcher().state(&self.database, file)?
                {
                    return Ok(state);
                }
            }
            Err(replaced_again_and_again())
        })
    }

    /// The version of the file at the path, where that can be told without a transaction.
    pub(crate) fn version(&self) -> Result<(FileVersion, Option<Version>), StorageError> {
        if let Some(known) = self.watcher().version_lately(nanos()) {
            return Ok(known);
        }
        let file = self.look()?;
        let _not_closing = not_closing();
        let is_open = self.connections.may_be_to(file);
        Ok((file, is_open.then(|| self.watcher().version(&self.database, file)).flatten()))
    }

    /// The file that stands at the path, or stood there less than a millisecond ago.
    fn file(&self) -> Result<FileVersion, StorageError> {
        self.watcher().file_lately(nanos()).map_or_else(|| self.look(), Ok)
    }

    /// The file that stands at the path now. One that was put in the place of another is another database; so is one
    /// whose WAL was removed. Nothing that was open of another database is open then.
    pub(crate) fn look(&self) -> Result<FileVersion, StorageError> {
        let began = nanos();
        let file = self.database.file_version()?;
        if !self.connections.may_be_to(file) {
            self.close_all_but(Some(file.identity));
        } else if self.watcher().has_lost_its_index() {
            self.close_all_but(None);
        }
        self.watcher().found(file, began);
        Ok(file)
    }

    /// Closes every connection to another file, before the first to that one is opened and while nobody reads.
    fn close_all_but(&self, file: Option<FileIdentity>) {
        let _alone = CLOSING.write().unwrap_or_else(PoisonError::into_inner);
        for connections in [Some(&self.connections), self.beside.as_ref()].into_iter().flatten() {
            connections.idle().retain(|reader| Some(reader.file.identity) == file);
            connections.watcher.stop_unless_of(file);
            *connections.of() = file;
            connections.generation.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn watcher(&self) -> &WalWatcher {
        &self.connections.watcher
    }

    /// Runs `read` on a connection to that file, aside while reads are slow.
    fn read_from<T>(
        &self,
        file: FileVersion,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        self.slow.run(|| self.read_at_once(file, read))
    }

    /// Like [`read_from`](Self::read_from), but on the calling thread. The connection is closed after an error other than a lock.
    fn read_at_once<T>(
        &self,
        file: FileVersion,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        let mut file = file;
        for attempt in 0..=ATTEMPTS {
            let not_closing = not_closing();
            let idle = self.take(file);
            // No connection is opened before a look.
            let may_open = idle.is_none() && attempt > 0 && self.connections.may_be_to(file);
            if let Some(reader) = if may_open { Reader::open(&self.database, file)? } else { idle } {
                let outcome = reader.run(read);
                if outcome.is_ok() || outcome.as_ref().is_err_and(is_locked) {
                    self.connections.idle().push(reader);
                }
                return outcome;
            }
            drop(not_closing);
            file = self.look()?;
        }
        Err(replaced_again_and_again())
    }

    /// A connection at rest that has read that version of the file; those that have read another are closed.
    fn take(&self, file: FileVersion) -> Option<Reader> {
        let mut idle = self.connections.idle();
        while let Some(reader) = idle.pop() {
            if reader.file == file {
                return Some(reader);
            }
        }
        None
    }
}

impl Connections {
    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        // Taking and putting back cannot leave the list in between.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self) -> MutexGuard<'_, Option<FileIdentity>> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is open of another file.
    fn may_be_to(&self, file: FileVersion) -> bool {
        *self.of() == Some(file.identity)
    }
}

fn not_closing() -> RwLockReadGuard<'static, ()> {
    CLOSING.read().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _alone = CLOSING.write().unwrap_or_else(PoisonError::into_inner);
        self.connections.idle().clear();
        self.connections.watcher.stop_unless_of(None);
    }
}

fn replaced_again_and_again() -> StorageError {
    let message = "the database file is replaced again and again; try again later";
    StorageError::new(StorageErrorKind::Unavailable, message)
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
