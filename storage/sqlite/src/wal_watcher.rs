//! [`WalWatcher`]: the version of the file that stands at the database's path, as its WAL's index tells it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::Connection;

use crate::cache::Version;
use crate::connection::Database;
use crate::file::{FileIdentity, FileVersion};
use crate::wal_index::WalIndex;

/// Watches one file; none before the first look.
#[derive(Default)]
pub(crate) struct WalWatcher(RwLock<Option<Watched>>);

/// A file whose commits are watched.
struct Watched {
    /// As it was when this began.
    file: FileVersion,
    /// No other one of this process has it.
    epoch: u64,
    /// Nothing where the file has no WAL.
    index: Option<WalIndex>,
    /// Holds the file in WAL mode, so that the index can be relied on.
    _connection: Mutex<Connection>,
}

impl WalWatcher {
    /// The version of the file, where it can be told without a transaction.
    pub(crate) fn version(&self, database: &Database, file: FileVersion) -> Option<Version> {
        if let Some(watched) = self.watched().as_ref()
            && watched.is_of(file)
        {
            return watched.version(file);
        }
        let watched = Watched::begin(database, file)?;
        let version = watched.version(file);
        *self.watched_mut() = Some(watched);
        version
    }

    /// Whether another file than that one is watched.
    pub(crate) fn is_of_another(&self, file: FileIdentity) -> bool {
        self.watched().as_ref().is_some_and(|watched| watched.file.identity != file)
    }

    /// Watches nothing any more.
    pub(crate) fn stop(&self) {
        self.watched_mut().take();
    }

    /// Watches no other file than that one any more.
    pub(crate) fn stop_unless_of(&self, file: FileIdentity) {
        self.watched_mut().take_if(|watched| watched.file.identity != file);
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
    fn begin(database: &Database, file: FileVersion) -> Option<Self> {
        static EPOCHS: AtomicU64 = AtomicU64::new(0);

        let connection = database.open_reader().ok()?;
        // The first read opens the WAL.
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM accounts)", [], |_| Ok(())).ok()?;
        let index = WalIndex::of(&connection);
        let epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        let watched = Self { file, epoch, index, _connection: Mutex::new(connection) };
        (database.file_version().ok()?.identity == file.identity).then_some(watched)
    }

    fn version(&self, file: FileVersion) -> Option<Version> {
        Some(Version { epoch: self.epoch, file, wal: self.index.as_ref()?.state()? })
    }

    /// Whether the file is the one that is watched. Without an index only in this version: a later one may have a WAL.
    fn is_of(&self, file: FileVersion) -> bool {
        self.file.identity == file.identity && (self.index.is_some() || self.file == file)
    }
}
