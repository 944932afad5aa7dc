//! [`Reader`]: a connection, and the deadline of its reads.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::storage_error;
use crate::file::FileVersion;
use crate::monotonic::nanos;

/// Timeout for a read, which is then interrupted. Each is bounded by an index, so only a disk that hardly responds reaches it.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// How many steps of SQLite's engine pass between two looks at the clock; a page of fifty takes about a thousand.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

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
