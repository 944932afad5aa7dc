//! [`Watch`]: a connection that lets the WAL's index be relied on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use rusqlite::Connection;

use crate::connection::{Database, FileIdentity, FileVersion};
use crate::kept::Moment;
use crate::wal_index::WalIndex;

/// The watch over the file that stands at the database's path; none before the first look.
#[derive(Default)]
pub(crate) struct Watches(RwLock<Option<Watch>>);

/// A file whose commits are watched.
struct Watch {
    /// As it was when this began.
    file: FileVersion,
    /// No other watch of this process has it.
    number: u64,
    /// What is watched; nothing where the file has no WAL.
    index: Option<WalIndex>,
    /// Holds the file in WAL mode.
    _connection: Mutex<Connection>,
}

impl Watches {
    /// The state of the file, where that can be told without a transaction.
    pub(crate) fn moment(&self, database: &Database, file: FileVersion) -> Option<Moment> {
        if let Some(watch) = self.0.read().unwrap_or_else(PoisonError::into_inner).as_ref()
            && watch.is_of(file)
        {
            return Some(Moment { watch: watch.number, file, wal: watch.index.as_ref()?.state()? });
        }
        let watch = Watch::begin(database, file)?;
        let moment = watch.index.as_ref().and_then(WalIndex::state);
        let moment = moment.map(|wal| Moment { watch: watch.number, file, wal });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(watch);
        moment
    }

    /// Whether another file than that one is watched.
    pub(crate) fn is_of_another(&self, file: FileIdentity) -> bool {
        let watch = self.0.read().unwrap_or_else(PoisonError::into_inner);
        watch.as_ref().is_some_and(|watch| watch.file.identity != file)
    }

    /// Ends the watch.
    pub(crate) fn end(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends the watch over another file than that one.
    pub(crate) fn end_unless_of(&self, file: FileIdentity) {
        let mut watch = self.0.write().unwrap_or_else(PoisonError::into_inner);
        watch.take_if(|watch| watch.file.identity != file);
    }
}

impl Watch {
    /// Begins to watch the file, if it still stands at the path.
    fn begin(database: &Database, file: FileVersion) -> Option<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);

        let connection = database.open_reader().ok()?;
        // The first read opens the WAL.
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM accounts)", [], |_| Ok(())).ok()?;
        let index = WalIndex::of(&connection);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let watch = Self { file, number, index, _connection: Mutex::new(connection) };
        (database.file_version().ok()?.identity == file.identity).then_some(watch)
    }

    /// Whether this is a watch over the file. One that has found no index says so of that version of the file alone: a
    /// later one may have a WAL.
    fn is_of(&self, file: FileVersion) -> bool {
        self.file.identity == file.identity && (self.index.is_some() || self.file == file)
    }
}
