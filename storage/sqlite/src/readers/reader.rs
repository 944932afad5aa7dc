//! [`Reader`]: a connection, and the deadline of its reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::storage_error;
use crate::file::FileVersion;
use crate::monotonic::nanos;

/// A read that takes longer is interrupted. Each is bounded by an index, so only a disk that hardly answers gets here.
const DEADLINE: Duration = Duration::from_secs(5);

/// How many steps of SQLite's engine pass between two looks at the clock; a page of fifty takes about a thousand.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// A connection to the file that stood at the database's path when it was opened.
pub(super) struct Reader {
    connection: Connection,
    pub(super) file: FileVersion,
    /// When the read that runs now began, by [`nanos`].
    began: Arc<AtomicU64>,
}

impl Reader {
    /// A connection to the file, or `None` when another one stands at the path meanwhile.
    pub(super) fn open(database: &Database, file: FileVersion) -> Result<Option<Self>, StorageError> {
        let mut connection = database.open_reader()?;
        // The first read opens the WAL, by its name.
        connection.pragma_query_value(None, "schema_version", |_| Ok(())).map_err(storage_error)?;
        if database.file_version()?.identity != file.identity {
            return Ok(None);
        }
        let began = Arc::new(AtomicU64::new(nanos()));
        let watched = Arc::clone(&began);
        let too_late = move || nanos().saturating_sub(watched.load(Ordering::Relaxed)) > DEADLINE.as_nanos() as u64;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(too_late)).map_err(storage_error)?;
        Ok(Some(Self { connection, file, began }))
    }

    /// Runs `read`, which is interrupted at the deadline.
    pub(super) fn run<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.began.store(nanos(), Ordering::Relaxed);
        read(&self.connection).map_err(storage_error)
    }
}
