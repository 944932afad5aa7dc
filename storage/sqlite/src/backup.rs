//! [`SqliteStorage::back_up_to`]: copies a database in use; the copy is complete and on the disk, or does not exist.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use crate::connection::{APPLICATION_ID, Database, KEYS_APPLICATION_ID};
use crate::error::storage_error;
use crate::storage::SqliteStorage;

/// Number of pages copied between two reports of progress: 1 MiB with pages of 4 KiB.
const PAGES_PER_STEP: i32 = 256;

/// Callback with the number of copied bytes and the total, which may cancel the copy.
type Progress<'p> = &'p mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Error of [`SqliteStorage::back_up_to`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The target already exists.
    #[error("already exists; use another file")]
    AlreadyExists,
    /// The directory of the target does not exist.
    #[error("its directory does not exist; create it first")]
    MissingDirectory,
    /// The database cannot be copied.
    #[error("cannot copy the database")]
    Copy(#[source] StorageError),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The copy exists, but may not survive a power failure.
    #[error("is complete, but may not survive a power failure: cannot sync its directory: {0}")]
    Sync(io::Error),
}

impl SqliteStorage {
    /// Copies the whole database at `source` to `target`, while others read and write.
    ///
    /// Uses SQLite's backup API, for any schema version. The copy is of one instant, and appears when it is complete and on the
    /// disk, with the mode of the database. `progress` gets the number of copied bytes and the total, and may cancel. Returns
    /// the size in bytes; `None` if canceled. Then, and after any error but [`BackupError::Sync`], no file is left.
    ///
    /// # Errors
    /// Returns an error if `target` exists, the database cannot be read, or the copy cannot be written.
    pub fn back_up_to(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<u64>, BackupError> {
        let (source, target) = (source.as_ref(), target.as_ref());
        if fs::symlink_metadata(target).is_ok() {
            return Err(BackupError::AlreadyExists);
        }
        let directory = target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            return Err(BackupError::MissingDirectory);
        }
        let partial = tempfile::Builder::new().prefix(".catalogue-").suffix(".partial").tempfile_in(directory);
        // Closed before SQLite opens it: closing it later would drop SQLite's locks.
        let partial = partial.map_err(BackupError::Write)?.into_temp_path();
        if back_up(source, &partial, progress).map_err(BackupError::Copy)?.is_break() {
            return Ok(None);
        }
        let bytes = finish_copy(&partial, source).map_err(BackupError::Write)?;
        if progress(bytes, bytes).is_break() {
            return Ok(None);
        }
        partial.persist_noclobber(target).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::AlreadyExists,
            _ => BackupError::Write(error.error),
        })?;
        #[cfg(unix)]
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(BackupError::Sync)?;
        Ok(Some(bytes))
    }
}

fn back_up(source: &Path, copy: &Path, progress: Progress<'_>) -> Result<ControlFlow<()>, StorageError> {
    let database = Database::File(source.to_owned());
    if database.inspect(&[APPLICATION_ID, KEYS_APPLICATION_ID])? == 0 {
        let message = "the database has no tables to copy; use the one that `serve` uses";
        return Err(StorageError::new(StorageErrorKind::Unavailable, message));
    }
    let source = database.open_exporter()?;
    let mut target = Database::File(copy.to_owned()).open(OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(storage_error)?;
    copy_all(&source, &mut target, progress)
}

fn copy_all(
    source: &Connection,
    target: &mut Connection,
    progress: Progress<'_>,
) -> Result<ControlFlow<()>, StorageError> {
    // A canceled copy is deleted, so it needs no journal.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(storage_error)?;
    // In this transaction, all steps see one state. Without it, each step would begin another transaction, and start over
    // after a write of another connection. `VACUUM INTO` copies one state too, but rebuilds the file and reports no progress.
    let snapshot = source.unchecked_transaction().map_err(storage_error)?;
    snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(storage_error)?;
    let page_size: u32 = snapshot.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(storage_error)?;
    let bytes = |pages: i32| u64::try_from(pages).unwrap_or_default() * u64::from(page_size);
    let backup = Backup::new(&snapshot, target).map_err(storage_error)?;
    loop {
        let step = backup.step(PAGES_PER_STEP).map_err(storage_error)?;
        let copied = backup.progress();
        if progress(bytes(copied.pagecount - copied.remaining), bytes(copied.pagecount)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        match step {
            StepResult::Done => return Ok(ControlFlow::Continue(())),
            StepResult::More => {}
            _ => return Err(StorageError::new(StorageErrorKind::Busy, "another program has locked the copy")),
        }
    }
}

/// Copies the mode of the original to the copy, and syncs the copy to the disk. Returns its size in bytes.
fn finish_copy(copy: &Path, source: &Path) -> io::Result<u64> {
    let file = File::options().read(true).write(true).open(copy)?;
    file.set_permissions(fs::metadata(source)?.permissions())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
