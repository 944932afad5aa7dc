//! Copies of a database of SQLite.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use catalogue_sqlite::SqliteStorage;

use super::Database;
use crate::exit::{Failure, chain};

impl Database {
    /// Returns the file to copy; only SQLite keeps a database in one.
    pub(crate) fn file_to_copy(&self) -> Result<PathBuf, Failure> {
        match self {
            Self::File { path, .. } => Ok(path.clone()),
            Self::Memory => Err(Failure::usage(format!(
                "{self} ends with this command, so there is nothing to copy; name a file, like sqlite:catalogue.db"
            ))),
            Self::Postgres(_) => Err(Failure::usage(format!(
                "{self} is PostgreSQL's, which has its own way: pg_dump --format=custom --file=FILE ADDRESS"
            ))),
        }
    }
}

/// Copies a database, and returns how many bytes the copy has; `None` if `progress`, which gets the bytes that are done and
/// all bytes, breaks it off. Then, and after an error, nothing is left.
pub(crate) fn copy(
    source: &Path,
    target: &Path,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Option<u64>, String> {
    SqliteStorage::back_up_to(source, target, progress).map_err(|error| chain(&error))
}
