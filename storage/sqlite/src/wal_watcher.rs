//! [`WalWatcher`]: which file stands at the database's path, and its version.

use std::sync::atomic::Ordering;
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::cache::Version;
use crate::connection::Database;
use crate::error::storage_error;
use crate::file::{FileIdentity, FileVersion};
use crate::sync::{AtomicU64, Mutex, RwLock};
use crate::wal_index::{WalIndex, WalState};

/// How long a look at the path is good for, in nanoseconds (decision A14). Commits are seen at once all the same.
const GOOD_FOR: u64 = 1_000_000;

/// Watches one file; none before the first look.
#[derive(Default)]
pub(crate) struct WalWatcher(RwLock<Option<Watched>>);

/// All that is in a file. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    Wal(Version),
    /// How often one connection, which the epoch tells from all others, has seen that another has committed.
    Seen {
        epoch: u64,
        file: FileVersion,
        commits: i64,
    },
}

/// What tells whether anything was committed, where there is a WAL.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    /// Tells states apart that an empty WAL does not, should one come back by a recovery. That takes two syncs and the end of a
    /// process, so a look at the file may be a millisecond old.
    file: FileVersion,
    wal: WalState,
}

/// What was found by a look at the WAL's index.
#[derive(Clone, Copy)]
enum Look {
    /// The state that was seen last.
    Known(Version),
    /// Another one, which has no number yet.
    New { epoch: u64, state: State },
    /// There is no WAL that can be watched, or its index is being replaced.
    Untold,
}

/// A file whose commits are watched.
struct Watched {
    /// As it was found at the path last.
    file: FileVersion,
    /// Until when nobody looks again, by [`nanos`](crate::monotonic::nanos).
    good_until: AtomicU64,
    /// No other one of this process has it.
    epoch: u64,
    /// The state that was seen last, and how many were different from the one before. What is cached is compared with the number:
    /// the state is 88 bytes.
    last: Option<State>,
    number: u64,
    /// Nothing where the file has no WAL.
    index: Option<WalIndex>,
    /// Holds the file in WAL mode, so that the index can be relied on.
    connection: Mutex<Connection>,
}

impl WalWatcher {
    /// The version of the file, where it can be told without a transaction.
    pub(crate) fn version(&self, database: &Database, file: FileVersion) -> Option<Version> {
        let look = self.ask(database, file, |watched| watched.look(file)).ok()??;
        self.number(look)
    }

    /// The state of that file, or `None` when another one stands at the path meanwhile.
    pub(crate) fn state(&self, database: &Database, file: FileVersion) -> Result<Option<FileState>, StorageError> {
        let asked = self.ask(database, file, |watched| match watched.look(file) {
            Look::Untold => watched.seen(file).map(Err),
            look => Ok(Ok(look)),
        })?;
        Ok(match asked.transpose()? {
            Some(Ok(look)) => self.number(look).map(FileState::Wal),
            Some(Err(seen)) => Some(seen),
            None => None,
        })
    }

    /// Asks who watches that file; `None` when another one stands at the path meanwhile.
    fn ask<T>(
        &self,
        database: &Database,
        file: FileVersion,
        ask: impl FnOnce(&Watched) -> T,
    ) -> Result<Option<T>, StorageError> {
        if let Some(watched) = self.watched().as_ref()
            && watched.is_of(file)
        {
            return Ok(Some(ask(watched)));
        }
        let Some(watched) = Watched::begin(database, file)? else { return Ok(None) };
        let asked = ask(&watched);
        *self.watched_mut() = Some(watched);
        Ok(Some(asked))
    }

    /// The version that a look has found; a new one gets the next number, unless another file is watched by now.
    fn number(&self, look: Look) -> Option<Version> {
        match look {
            Look::Known(version) => Some(version),
            Look::New { epoch, state } => {
                let mut watched = self.watched_mut();
                let watched = watched.as_mut().filter(|watched| watched.epoch == epoch)?;
                if watched.last != Some(state) {
                    watched.last = Some(state);
                    watched.number += 1;
                }
                Some(Version { epoch, number: watched.number })
            }
            Look::Untold => None,
        }
    }

    /// The file that stood at the path less than a millisecond before `now`, if one was found there so lately.
    pub(crate) fn file_lately(&self, now: u64) -> Option<FileVersion> {
        self.lately(now, |watched| watched.file)
    }

    /// The same with its version now, where that can be told without a transaction.
    pub(crate) fn version_lately(&self, now: u64) -> Option<(FileVersion, Option<Version>)> {
        let (file, look) = self.lately(now, |watched| (watched.file, watched.look(watched.file)))?;
        Some((file, self.number(look)))
    }

    fn lately<T>(&self, now: u64, ask: impl FnOnce(&Watched) -> T) -> Option<T> {
        let watched = self.watched();
        watched.as_ref().filter(|watched| now < watched.good_until.load(Ordering::Relaxed)).map(ask)
    }

    /// Notes that this file was found at the path by a look that began at `looked_at`, if it is the one that is watched. Not
    /// without an index: there a commit changes the file, and what is known of it must not change again a millisecond later.
    pub(crate) fn found(&self, file: FileVersion, looked_at: u64) {
        let good_until = looked_at + GOOD_FOR;
        match self.watched().as_ref() {
            Some(watched) if watched.index.is_none() || !watched.is_of(file) => return,
            Some(watched) if watched.file == file => {
                watched.good_until.fetch_max(good_until, Ordering::Relaxed);
                return;
            }
            _ => {}
        }
        if let Some(watched) = self.watched_mut().as_mut()
            && watched.index.is_some()
            && watched.is_of(file)
            && *watched.good_until.get_mut() < good_until
        {
            (watched.file, watched.good_until) = (file, AtomicU64::new(good_until));
        }
    }

    /// Whether another index than the one that is watched stands at its path, or none. Within this process SQLite goes on with
    /// the one that it has, as long as one connection is open.
    pub(crate) fn has_lost_its_index(&self) -> bool {
        let watched = self.watched();
        watched.as_ref().and_then(|watched| watched.index.as_ref()).is_some_and(|index| !index.is_at_its_path())
    }

    /// Watches no other file than that one any more.
    pub(crate) fn stop_unless_of(&self, file: Option<FileIdentity>) {
        self.watched_mut().take_if(|watched| Some(watched.file.identity) != file);
    }

    fn watched(&self) -> RwLockReadGuard<'_, Option<Watched>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched_mut(&self) -> RwLockWriteGuard<'_, Option<Watched>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Begins to watch the file, if it still stands at the path.
    fn begin(database: &Database, file: FileVersion) -> Result<Option<Self>, StorageError> {
        static EPOCHS: AtomicU64 = AtomicU64::new(0);

        let connection = database.open_reader()?;
        // The first read opens the WAL.
        let first_read = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
        connection.query_row(first_read, [], |_| Ok(())).map_err(storage_error)?;
        let index = WalIndex::of(&connection);
        let epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        let (good_until, connection) = (AtomicU64::new(0), Mutex::new(connection));
        let watched = Self { file, good_until, epoch, last: None, number: 0, index, connection };
        Ok((database.file_version()?.identity == file.identity).then_some(watched))
    }

    fn look(&self, file: FileVersion) -> Look {
        let Some(wal) = self.index.as_ref().and_then(WalIndex::state) else { return Look::Untold };
        let (epoch, state) = (self.epoch, State { file, wal });
        if self.last == Some(state) {
            return Look::Known(Version { epoch, number: self.number });
        }
        Look::New { epoch, state }
    }

    fn seen(&self, file: FileVersion) -> Result<FileState, StorageError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let commits = connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(storage_error)?;
        Ok(FileState::Seen { epoch: self.epoch, file, commits })
    }

    /// Whether the file is the one that is watched. Without an index only in this version: a later one may have a WAL.
    fn is_of(&self, file: FileVersion) -> bool {
        self.file.identity == file.identity && (self.index.is_some() || self.file == file)
    }
}
