//! [`SqliteStorage::back_up_to`]: a copy of a database that is whole and on the disk, or not there.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use catalogue_core::storage::StorageError;
use thiserror::Error;

use crate::storage::SqliteStorage;

/// Why there is no copy of a database at a path.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackupError {
    /// Something is there.
    #[error("is there already; name a file that is not")]
    There,
    /// Its directory is not.
    #[error("its directory does not exist; make it first")]
    NoDirectory,
    /// The database cannot be copied.
    #[error("no copy was made")]
    NotCopied(#[source] StorageError),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    NotWritten(io::Error),
    /// It is there, and nobody knows whether it stays.
    #[error("is whole, but may be lost if the machine stops: its directory cannot be synced: {0}")]
    NotSynced(io::Error),
}

impl SqliteStorage {
    /// Copies the whole database at `source` as [`back_up`](Self::back_up) does, to a file at `target` that appears when it
    /// is whole and on the disk, with the mode of the database. Says how many bytes it has; `None` where `progress` breaks it
    /// off. Then, and after an error, nothing is left.
    ///
    /// # Errors
    /// When something is at `target`, the database cannot be read, or the file cannot be written.
    pub fn back_up_to(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<u64>, BackupError> {
        let (source, target) = (source.as_ref(), target.as_ref());
        if fs::symlink_metadata(target).is_ok() {
            return Err(BackupError::There);
        }
        let directory = target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            return Err(BackupError::NoDirectory);
        }
        let partial = tempfile::Builder::new().prefix(".catalogue-").suffix(".partial").tempfile_in(directory);
        // Closed before SQLite opens it: to close it later would drop SQLite's locks.
        let partial = partial.map_err(BackupError::NotWritten)?.into_temp_path();
        if Self::back_up(source, &partial, progress).map_err(BackupError::NotCopied)?.is_break() {
            return Ok(None);
        }
        let bytes = finished(&partial, source).map_err(BackupError::NotWritten)?;
        if progress(bytes, bytes).is_break() {
            return Ok(None);
        }
        partial.persist_noclobber(target).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::There,
            _ => BackupError::NotWritten(error.error),
        })?;
        #[cfg(unix)]
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(BackupError::NotSynced)?;
        Ok(Some(bytes))
    }
}

/// Gives the copy the mode of the original, and waits until the disk has it.
fn finished(copy: &Path, source: &Path) -> io::Result<u64> {
    let file = File::options().read(true).write(true).open(copy)?;
    file.set_permissions(fs::metadata(source)?.permissions())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
