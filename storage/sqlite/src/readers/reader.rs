//! [`Reader`]: one read-only connection, and how long it may read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::Database;
use crate::error::storage_error;
use crate::file::FileVersion;

/// A read that takes longer is interrupted. Each is bounded by an index, so only a disk that hardly answers gets here.
const DEADLINE: Duration = Duration::from_secs(5);

/// How many steps of SQLite's engine pass between two looks at the clock; a page of fifty takes about a thousand.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// What the clocks of all readers count from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A connection to the file that stood at the database's path when it was opened.
pub(super) struct Reader {
    connection: Connection,
    pub(super) file: FileVersion,
    /// When the read that runs now began, in microseconds since [`EPOCH`].
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
        let began = Arc::new(AtomicU64::new(micros_since_epoch()));
        let watched = Arc::clone(&began);
        let too_late =
            move || micros_since_epoch().saturating_sub(watched.load(Ordering::Relaxed)) > DEADLINE.as_micros() as u64;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(too_late)).map_err(storage_error)?;
        Ok(Some(Self { connection, file, began }))
    }

    /// Runs `read`, which is interrupted at the deadline.
    pub(super) fn run<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.began.store(micros_since_epoch(), Ordering::Relaxed);
        read(&self.connection).map_err(storage_error)
    }
}

fn micros_since_epoch() -> u64 {
    EPOCH.elapsed().as_micros() as u64
}
