//! [`OpenError`]: why a database cannot be opened, and how to fix it.

use std::path::PathBuf;

use catalogue_core::storage::{StorageError, StorageErrorKind, ViewProblem};

/// Why a database cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file does not exist.
    #[error("there is no database at {0:?}; `migrate` or an import makes one")]
    Missing(PathBuf),
    /// The directory for the new file does not exist.
    #[error("the directory of the database {0:?} does not exist; make it first")]
    MissingDirectory(PathBuf),
    /// The path is a directory or something else that is not a file.
    #[error("{0:?} is not a file, so it cannot be a database")]
    NotAFile(PathBuf),
    /// The file is not an SQLite database, or it is damaged.
    #[error("{0:?} is not an SQLite database, or it is damaged")]
    NotADatabase(PathBuf),
    /// The file is a database of another program.
    #[error("{0:?} is a database of another program; name another file")]
    OtherApplication(PathBuf),
    /// The file for the keys of a storage over views has other tables.
    #[error("{0:?} has other tables; keys beside views need a file of their own: name a new one")]
    OtherTables(PathBuf),
    /// The file of another program is in WAL mode, that program does not have it open, and the `-shm` that is needed to read
    /// it cannot be created next to it.
    #[error(
        "{0:?} has a WAL and no `-shm`, and none can be made in its directory; start its program first, or run this one \
         as the user of that program"
    )]
    WalWithoutIndex(PathBuf),
    /// The file of another program is in WAL mode, that program does not have it open, and reading it would create files next
    /// to it that its owner may not write.
    #[error(
        "{path:?} is in WAL mode and its program does not have it open: reading it now would leave a `-wal` and `-shm` that \
         the program may not write, so that it gets \"attempt to write a readonly database\"; run catalogue as the user \
         {owner}, or start your program first and keep a connection open"
    )]
    WalOfAnotherUser {
        /// The database.
        path: PathBuf,
        /// The name of its owner.
        owner: String,
    },
    /// The `-wal` or `-shm` of another program's file may not be read.
    #[error(
        "{path:?} may not be read by this user; run catalogue as the user {owner}, or let the group read and write the \
         database's `-wal` and `-shm`"
    )]
    WalOutOfReach {
        /// The `-wal` or `-shm`.
        path: PathBuf,
        /// The name of its owner.
        owner: String,
    },
    /// The views with the courses are missing or cannot be read.
    #[error("{path:?}: the courses cannot be read: {}", ViewProblem::line(.problems))]
    Views {
        /// The database with the views.
        path: PathBuf,
        /// The problems of the views.
        problems: Vec<ViewProblem>,
    },
    /// The database was made by a build from before the first release, whose schema this one does not read; or such a build
    /// created tables for keys in another program's file.
    #[error(
        "{path:?} was made by an older, unreleased build, whose schema this one does not read: {}",
        if *.beside_views { "name a new file and create new keys" } else {
            "export the courses with that build, import them into a new file with this one, and create new keys"
        }
    )]
    UnreleasedSchema {
        /// The database.
        path: PathBuf,
        /// Whether it has only keys, for courses in views.
        beside_views: bool,
    },
    /// The schema is older than this program's.
    #[error("{path:?} has schema version {found} and this program needs {known}; bring it up to date with `migrate`")]
    OlderSchema {
        /// The database.
        path: PathBuf,
        /// The version that it has.
        found: u32,
        /// The version that this program needs.
        known: u32,
    },
    /// The schema is newer than this program's.
    #[error(
        "{path:?} has schema version {found}, made by a newer program; this one knows up to {known}: use the newer one"
    )]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The version that it has.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The file, or its directory, cannot be written.
    #[error("the database {0:?} is read-only; make the file and its directory writable")]
    ReadOnly(PathBuf),
    /// Any other error of SQLite or the file system.
    #[error("the database {path:?} cannot be opened")]
    Failed {
        /// The database.
        path: PathBuf,
        /// The underlying error.
        source: StorageError,
    },
}

/// Converts the error of a call that had to open a connection.
impl From<OpenError> for StorageError {
    fn from(error: OpenError) -> Self {
        let message = error.to_string();
        match error {
            OpenError::Failed { source, .. } => Self::new(source.kind(), message).with_source(source),
            _ => Self::new(StorageErrorKind::Unavailable, message),
        }
    }
}
