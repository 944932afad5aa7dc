//! [`Backup`]: a copy of a database of SQLite.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use catalogue_sqlite::SqliteStorage;

use super::Database;
use crate::exit::{Failure, chain};

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
        SqliteStorage::back_up_to(&self.source, &self.target, progress).map_err(|error| chain(&error))
    }
}
