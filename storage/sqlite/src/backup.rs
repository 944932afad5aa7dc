//! [`SqliteStorage::back_up`]: a whole copy of a database that is in use.

use std::ops::ControlFlow;
use std::path::Path;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};

use crate::connection::{APPLICATION_ID, Database, KEYS_APPLICATION_ID};
use crate::error::storage_error;
use crate::storage::SqliteStorage;

/// How many pages are copied between two reports of progress: a mebibyte, where a page has 4 KiB.
const PAGES_A_STEP: i32 = 256;

impl SqliteStorage {
    /// Copies the whole database at `path`, of whatever schema version, into the empty file at `copy`, by SQLite's own
    /// backup: all of one moment, while others read and write. After each step `progress` is told how many bytes are
    /// copied, of how many; where it breaks off, so does this, and returns that.
    ///
    /// The copy is whole only after `Continue`. It is not synced: the caller does that before relying on it.
    ///
    /// # Errors
    /// When there is no database of ours at `path`, it cannot be read, or the copy cannot be written.
    pub fn back_up(
        path: impl AsRef<Path>,
        copy: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StorageError> {
        let database = Database::File(path.as_ref().to_owned());
        if database.inspect(&[APPLICATION_ID, KEYS_APPLICATION_ID])? == 0 {
            let message = "the database has no tables, so there is nothing to copy; name the one that is in use";
            return Err(StorageError::new(StorageErrorKind::Unavailable, message));
        }
        let source = database.open_exporter()?;
        let copy = Database::File(copy.as_ref().to_owned());
        let mut target = copy.open(OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(storage_error)?;
        copy_all(&source, &mut target, progress)
    }
}

fn copy_all(
    source: &rusqlite::Connection,
    target: &mut rusqlite::Connection,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StorageError> {
    // A copy that is broken off is thrown away, so it needs no journal.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(storage_error)?;
    // Each step would begin a read transaction of its own, and after a write of another connection start over. Within this
    // one all steps see the same state. `VACUUM INTO` would too, but rebuilds the file and cannot say how far it is.
    let snapshot = source.unchecked_transaction().map_err(storage_error)?;
    snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(storage_error)?;
    let page_size: u32 = snapshot.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(storage_error)?;
    let bytes = |pages: i32| u64::try_from(pages).unwrap_or_default() * u64::from(page_size);
    let backup = Backup::new(&snapshot, target).map_err(storage_error)?;
    loop {
        let step = backup.step(PAGES_A_STEP).map_err(storage_error)?;
        let seen = backup.progress();
        if progress(bytes(seen.pagecount - seen.remaining), bytes(seen.pagecount)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match step {
            StepResult::Done => return Ok(ControlFlow::Continue(())),
            StepResult::More => {}
            _ => return Err(StorageError::new(StorageErrorKind::Unavailable, "another program has locked the copy")),
        }
    }
}
