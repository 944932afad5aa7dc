//! [`Integrity`]: the result of checking a database's file for damage.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

use crate::connection::{APPLICATION_ID, Database, KEYS_APPLICATION_ID};
use crate::error::storage_error;
use crate::open_error::OpenError;
use crate::storage::SqliteStorage;

/// Number of steps of SQLite's engine between two checks of the clock.
const STEPS_BETWEEN_CHECKS: i32 = 10_000;

/// Result of a check of a database's file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integrity {
    /// No damage was found.
    Ok,
    /// The first damage that was found.
    Damaged(String),
    /// The time ran out before the whole file was checked; the checked part is undamaged.
    TimedOut,
}

impl SqliteStorage {
    /// Checks the whole file for damage, for at most `timeout`.
    ///
    /// Uses SQLite's `quick_check`, which does not compare indexes with tables. Changes nothing and blocks no connection.
    ///
    /// # Errors
    /// Returns an error if the file is not a catalogue database or cannot be read.
    pub fn quick_check(path: impl AsRef<Path>, timeout: Duration) -> Result<Integrity, OpenError> {
        let database = Database::File(path.as_ref().to_owned());
        if database.inspect(&[APPLICATION_ID, KEYS_APPLICATION_ID])? == 0 {
            return Ok(Integrity::Ok);
        }
        let failed = |source| database.failed(source);
        let mut connection = database.open_exporter().map_err(failed)?;
        let began = Instant::now();
        let timed_out = move || began.elapsed() > timeout;
        connection
            .progress_handler(STEPS_BETWEEN_CHECKS, Some(timed_out))
            .map_err(|error| failed(storage_error(error)))?;
        let result = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match result {
            Ok(result) if result == "ok" => Ok(Integrity::Ok),
            Ok(result) => Ok(Integrity::Damaged(result)),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => Ok(Integrity::TimedOut),
                Some(ErrorCode::DatabaseCorrupt) => Ok(Integrity::Damaged(error.to_string())),
                _ => Err(failed(storage_error(error))),
            },
        }
    }
}
