//! [`OpenError`]: why a database cannot be opened, and how to fix it.

use std::path::PathBuf;

use catalogue_core::storage::{StorageError, StorageErrorKind, ViewProblem};

/// Why a database cannot be opened or migrated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file does not exist.
    #[error("no database at {0:?}; create one with `migrate` or an import")]
    Missing(PathBuf),
    /// The directory for the new file does not exist.
    #[error("the directory of the database {0:?} does not exist; create it first")]
    MissingDirectory(PathBuf),
    /// The path is a directory, a device or another special file.
    #[error("invalid database {0:?}: not a file")]
    NotAFile(PathBuf),
    /// The file is not an SQLite database, or is corrupt.
    #[error("{0:?} is not an SQLite database, or is corrupt")]
    NotADatabase(PathBuf),
    /// The file is a database of another program.
    #[error("{0:?} is a database of another program; use another file")]
    OtherApplication(PathBuf),
    /// The file for the keys of a storage over views has other tables.
    #[error("{0:?} has other tables; use a new file for the keys, separate from the views")]
    OtherTables(PathBuf),
    /// The file of another program is in WAL mode and has no `-shm`, because that program does not have it open. This program
    /// cannot create one next to it.
    #[error(
        "{0:?} has a WAL but no `-shm`, and none can be created; start its program first, or run catalogue as that \
         program's user"
    )]
    WalWithoutIndex(PathBuf),
    /// The file of another program is in WAL mode, and that program does not have it open. Reading it would create files next
    /// to it that its owner could not write.
    #[error(
        "{path:?} is in WAL mode and its program does not have it open: reading it now would leave a `-wal` and `-shm` that \
         the program cannot write (\"attempt to write a readonly database\"); run catalogue as the user {owner}, or start \
         your program first and keep a connection open"
    )]
    WalOfAnotherUser {
        /// The database.
        path: PathBuf,
        /// The name of its owner.
        owner: String,
    },
    /// This user is not allowed to read the `-wal` or `-shm` of another program's file.
    #[error(
        "this user cannot read {path:?}; run catalogue as the user {owner}, or let the group read and write the \
         database's `-wal` and `-shm`"
    )]
    WalOutOfReach {
        /// The `-wal` or `-shm`.
        path: PathBuf,
        /// The name of its owner.
        owner: String,
    },
    /// The views with the courses are missing or cannot be read.
    #[error("{path:?}: cannot read the courses: {}", ViewProblem::line(.problems))]
    Views {
        /// The database with the views.
        path: PathBuf,
        /// The problems of the views.
        problems: Vec<ViewProblem>,
    },
    /// A build from before the first release created the database with a schema that this build does not read, or created
    /// tables for keys in another program's file.
    #[error(
        "{path:?} was created by an older, unreleased build, and this one cannot read it: {}",
        if *.beside_views { "use a new file and create new keys" } else {
            "export the courses with that build, import them into a new file with this one, and create new keys"
        }
    )]
    UnreleasedSchema {
        /// The database.
        path: PathBuf,
        /// Whether it has keys for courses in views, instead of courses.
        beside_views: bool,
    },
    /// The schema is older than this program's.
    #[error("{path:?} has schema version {found}, but this program needs {known}; run `migrate`")]
    OlderSchema {
        /// The database.
        path: PathBuf,
        /// The version that it has.
        found: u32,
        /// The version that this program needs.
        known: u32,
    },
    /// The schema is newer than this program's.
    #[error("{path:?} has schema version {found}, but this program supports up to {known}; use the newer program")]
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
    #[error("cannot open the database {path:?}")]
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
