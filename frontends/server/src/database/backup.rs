//! [`Backup`]: a copy of a database of SQLite that is whole, or not there.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use catalogue_sqlite::SqliteStorage;

use super::Database;
use crate::exit::{Failure, chain};

const THERE: &str = "is there already; name a file that is not";

/// A copy to be made.
pub(crate) struct Backup {
    source: PathBuf,
    target: PathBuf,
}

impl Database {
    /// A copy of it at that path; there is one only of what SQLite keeps in a file.
    pub(crate) fn backup_to(&self, target: &Path) -> Result<Backup, Failure> {
        match self {
            Self::File { path, .. } => Ok(Backup { source: path.clone(), target: target.to_owned() }),
            Self::Memory => Err(Failure::usage(format!(
                "{self} ends with this command, so there is nothing to copy; name a file, like sqlite:catalogue.db"
            ))),
            Self::Postgres(_) => Err(Failure::usage(format!(
                "{self} is PostgreSQL's, which has its own way: pg_dump --format=custom --file=FILE ADDRESS"
            ))),
        }
    }
}

impl Backup {
    /// Makes it, and says how many bytes it has; `None` where `progress`, which is told how many are done of how many, breaks
    /// it off. Then, and after an error, nothing is left.
    pub(crate) fn make(&self, progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<Option<u64>, String> {
        let Self { source, target } = self;
        if fs::symlink_metadata(target).is_ok() {
            return Err(THERE.to_owned());
        }
        let directory = target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            return Err("its directory does not exist; make it first".to_owned());
        }
        let failed = |error: io::Error| format!("cannot be written: {error}");
        let partial = tempfile::Builder::new().prefix(".catalogue-").suffix(".partial").tempfile_in(directory);
        // Closed before SQLite opens it: to close it later would drop SQLite's locks.
        let partial = partial.map_err(failed)?.into_temp_path();
        let copied = SqliteStorage::back_up(source, &partial, progress);
        if copied.map_err(|error| format!("no copy was made: {}", chain(&error)))?.is_break() {
            return Ok(None);
        }
        let bytes = finished(&partial, source).map_err(failed)?;
        if progress(bytes, bytes).is_break() {
            return Ok(None);
        }
        partial.persist_noclobber(target).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => THERE.to_owned(),
            _ => failed(error.error),
        })?;
        #[cfg(unix)]
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| {
            format!("is whole, but may be lost if the machine stops: its directory cannot be synced: {error}")
        })?;
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
