//! [`Generation`]: the open connections to the file at the database's path, each a [`Reader`].

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::storage_error;
use crate::file::FileVersion;
use crate::sync::{self, Mutex, nanos};
use crate::wal_index::{WalIndex, WalState};

/// Lifetime of a check of the path, in nanoseconds (decision A14). Commits are seen immediately regardless.
const CHECK_LIFETIME: u64 = 1_000_000;

/// Timeout for a read, which is then interrupted. Reads are bounded by indexes, so only an almost unresponsive disk exceeds it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of steps of SQLite's engine between two checks of the clock; a page of 50 courses takes about 1,000.
const STEPS_BETWEEN_CHECKS: i32 = 1_000;

/// Identifies a state of a file, which every commit replaces. Unique within this process, across all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Version(u64);

/// A file and the open connections to it.
pub(super) struct Generation {
    /// The file as the last check found it.
    file: FileVersion,
    /// When the last check expires, by [`nanos`]. Zero without a WAL, so that each read checks the path: each commit then
    /// changes the file's version, and a check that stayed valid would only delay the reopening.
    checked_until: u64,
    wal: Option<WatchedWal>,
    /// Idle connections, all of which have read this version of the file.
    idle: Mutex<Vec<Reader>>,
}

/// The WAL index, which shows whether anything was committed.
struct WatchedWal {
    index: WalIndex,
    /// The state that was seen last, with its version. Cached lookups compare the version, since the state is 48 bytes.
    last: Option<(WalState, Version)>,
    /// Keeps the file in WAL mode, so that the index is reliable.
    _connection: Mutex<Reader>,
}

impl Generation {
    /// Opens the file at the path; `None` if another file replaces it during the call.
    pub(super) fn open(database: &Database) -> Result<Option<Self>, StorageError> {
        let (began, file) = (nanos(), database.file_version()?);
        let reader = Reader::open(database, file)?;
        if database.file_version()?.identity != file.identity {
            return Ok(None);
        }
        Ok(Some(match WalIndex::of(&reader) {
            Some(index) => {
                let wal = Some(WatchedWal { index, last: None, _connection: Mutex::new(reader) });
                Self { file, checked_until: began + CHECK_LIFETIME, wal, idle: Mutex::default() }
            }
            None => Self { file, checked_until: 0, wal: None, idle: Mutex::new(vec![reader]) },
        }))
    }

    /// Returns whether the file was found at the path less than a millisecond before `now`.
    pub(super) fn is_recent(&self, now: u64) -> bool {
        now < self.checked_until
    }

    /// Records a check that began at `began` and found `file` at the path. Returns `false` if the file must be reopened: it is
    /// another file, has changed without a WAL, or its WAL index was removed. Open connections still use the removed index.
    pub(super) fn check(&mut self, file: FileVersion, began: u64) -> bool {
        let is_same = self.file.identity == file.identity;
        let Some(wal) = self.wal.as_mut().filter(|wal| is_same && wal.index.is_at_its_path()) else {
            self.checked_until = 0;
            // If the file's version has changed, it may have a WAL now, so it needs another generation.
            return self.wal.is_none() && self.file == file;
        };
        let checked_until = began + CHECK_LIFETIME;
        if self.checked_until < checked_until {
            self.checked_until = checked_until;
            if self.file != file {
                // A checkpoint has written the file, or another file was copied over it. After a copy, the connections
                // cache wrong pages, and an empty WAL may look like the previous one.
                self.file = file;
                wal.last = None;
                self.idle().clear();
            }
        }
        true
    }

    /// Returns the version of the file if the WAL's state is the one seen last and the path was checked recently.
    pub(super) fn known_version(&self, now: u64) -> Option<Version> {
        let wal = self.wal.as_ref().filter(|_| self.is_recent(now))?;
        let (state, version) = wal.last?;
        (wal.index.state()? == state).then_some(version)
    }

    /// Returns the version of the file; `None` without a WAL, and while the header of its index is being replaced.
    pub(super) fn version(&mut self) -> Option<Version> {
        static COUNT: sync::AtomicU64 = sync::AtomicU64::new(0);

        let wal = self.wal.as_mut()?;
        let state = wal.index.state()?;
        if let Some((known, version)) = wal.last
            && known == state
        {
            return Some(version);
        }
        let version = Version(COUNT.fetch_add(1, Ordering::Relaxed));
        wal.last = Some((state, version));
        Some(version)
    }

    /// Takes an idle connection.
    pub(super) fn take(&self) -> Option<Reader> {
        self.idle().pop()
    }

    /// Puts a connection back, or closes it if it has read an earlier version of the file.
    pub(super) fn put_back(&self, reader: Reader) {
        if reader.file == self.file {
            self.idle().push(reader);
        }
    }

    pub(super) fn file(&self) -> FileVersion {
        self.file
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        // Ignores poisoning: taking and putting back cannot leave the list half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read-only connection.
pub(crate) struct Reader {
    connection: Connection,
    /// The file that it reads, as it was when the connection was opened.
    pub(crate) file: FileVersion,
    /// When the current read began, by [`nanos`].
    began: Arc<AtomicU64>,
}

impl Reader {
    /// Opens a connection to the file at the path. The caller must then check that `file` is still at the path.
    pub(super) fn open(database: &Database, file: FileVersion) -> Result<Self, StorageError> {
        let mut connection = database.open_reader()?;
        // The first read opens the WAL by name, so it must come before the caller's check.
        connection.pragma_query_value(None, "schema_version", |_| Ok(())).map_err(storage_error)?;
        let began = Arc::new(AtomicU64::new(nanos()));
        let watched = Arc::clone(&began);
        let is_late = move || nanos().saturating_sub(watched.load(Ordering::Relaxed)) > READ_TIMEOUT.as_nanos() as u64;
        connection.progress_handler(STEPS_BETWEEN_CHECKS, Some(is_late)).map_err(storage_error)?;
        Ok(Self { connection, file, began })
    }

    /// Runs `read`, which is interrupted after [`READ_TIMEOUT`].
    pub(super) fn run<T>(&self, read: impl FnOnce(&Self) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.began.store(nanos(), Ordering::Relaxed);
        read(self).map_err(storage_error)
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}
