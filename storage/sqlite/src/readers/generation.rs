//! [`Generation`]: what is open of the file that stands at the database's path, each connection a [`Reader`].

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

/// How long a check of the path is valid, in nanoseconds (decision A14). Commits are seen immediately all the same.
const CHECK_LIFETIME: u64 = 1_000_000;

/// Timeout for a read, which is then interrupted. Each is bounded by an index, so only a disk that hardly responds reaches it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// How many steps of SQLite's engine pass between two looks at the clock; a page of fifty takes about a thousand.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// Stands for a state of a file, which every commit replaces. No other state of this process has it, of whatever file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Version(u64);

/// A file, and all that is open of it.
pub(super) struct Generation {
    /// The file as the last check found it.
    file: FileVersion,
    /// When the last check becomes invalid, by [`nanos`]. Each read checks the path of a file without a WAL: a commit changes it,
    /// and what is known of it must not change again a millisecond later.
    checked_until: u64,
    wal: Option<WatchedWal>,
    /// Connections at rest, all of which have read this version of the file.
    idle: Mutex<Vec<Reader>>,
}

/// What tells whether anything was committed.
struct WatchedWal {
    index: WalIndex,
    /// The state that was seen last. What is cached is compared with its version, since the state is 48 bytes.
    last: Option<(WalState, Version)>,
    /// Holds the file in WAL mode, so that the index can be relied on.
    _connection: Mutex<Reader>,
}

impl Generation {
    /// Opens the file that stands at the path; `None` if another one does meanwhile.
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

    /// The file, if it was found at the path less than a millisecond before `now`.
    pub(super) fn is_recent(&self, now: u64) -> bool {
        now < self.checked_until
    }

    /// Whether this is of `file`, which a check that began at `began` has found at the path. A file whose WAL index was removed is
    /// another one: within this process SQLite continues with the old index, as long as one connection is open.
    pub(super) fn check(&mut self, file: FileVersion, began: u64) -> bool {
        let is_same = self.file.identity == file.identity;
        let Some(wal) = self.wal.as_mut().filter(|wal| is_same && wal.index.is_at_its_path()) else {
            self.checked_until = 0;
            // A later version may have a WAL.
            return self.wal.is_none() && self.file == file;
        };
        let checked_until = began + CHECK_LIFETIME;
        if self.checked_until < checked_until {
            self.checked_until = checked_until;
            if self.file != file {
                // Written by a checkpoint, or copied over: then what connections have cached of it is wrong, and an empty WAL may
                // look like the one before.
                self.file = file;
                wal.last = None;
                self.idle().clear();
            }
        }
        true
    }

    /// The version of the file now, if it is the one that was seen last and the path was checked recently.
    pub(super) fn known_version(&self, now: u64) -> Option<Version> {
        let wal = self.wal.as_ref().filter(|_| self.is_recent(now))?;
        let (state, version) = wal.last?;
        (wal.index.state()? == state).then_some(version)
    }

    /// The version of the file now; `None` without a WAL, and while its index is being replaced.
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

    /// Takes a connection at rest.
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
        // Taking and putting back cannot leave the list in between.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read-only connection.
pub(crate) struct Reader {
    connection: Connection,
    /// The file that it has read, as it was when it was opened.
    pub(crate) file: FileVersion,
    /// When the current read began, by [`nanos`].
    began: Arc<AtomicU64>,
}

impl Reader {
    /// Opens a connection to `file`, if that still stands at the path.
    pub(super) fn open(database: &Database, file: FileVersion) -> Result<Self, StorageError> {
        let mut connection = database.open_reader()?;
        // The first read opens the WAL, by its name.
        connection.pragma_query_value(None, "schema_version", |_| Ok(())).map_err(storage_error)?;
        let began = Arc::new(AtomicU64::new(nanos()));
        let watched = Arc::clone(&began);
        let is_late = move || nanos().saturating_sub(watched.load(Ordering::Relaxed)) > READ_TIMEOUT.as_nanos() as u64;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_late)).map_err(storage_error)?;
        Ok(Self { connection, file, began })
    }

    /// Runs `read`, which is interrupted after the timeout.
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
