//! SQLite storage for the course catalogue API: courses, credentials and their administration in one file.
//!
//! ```
//! use catalogue_core::Catalogue;
//! use catalogue_sqlite::SqliteStorage;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("catalogue.db");
//! let storage = SqliteStorage::open_and_migrate(path)?;
//! let catalogue = Catalogue::with_api_keys(storage).build()?;
//! # Ok(())
//! # }
//! ```
//!
//! Reads run at once, on the thread that asks, over read-only connections: each is one or two look-ups in an index, which
//! cost less than a hop to another thread. The database is in WAL mode, so writers and readers do not wait for each other.
//! Where another program has locked it all the same, a request waits for a second at most, without keeping its thread, and
//! fails: the error is of the kind [`Unavailable`](catalogue_core::storage::StorageErrorKind::Unavailable).
//! Triggers keep each account's revision, so a host may write to the tables with plain SQL.
//!
//! Look-ups of credentials and revisions are cached until anything is committed, by whichever process. On Linux one small read
//! of the `-shm` file tells; on other systems, and where there is no WAL, each look-up reads the database.
//!
//! # The file
//! While a process has the database open it must not open and close the database, its `-wal` or its `-shm` in another way
//! than through SQLite: by the rules of POSIX, closing a file drops the process's locks on it, on which SQLite relies. To
//! back up, use `VACUUM INTO` or another process.
//!
//! A file that is put in the place of the database is noticed at the next read. Where several storages of one process are
//! open on the path, or connections of the host's own, remove the old `-wal` and `-shm` before, so that no two files share
//! them.
//!
//! # Features
//! - `bundled` (default): builds SQLite from source. Without it the system's library is linked, which must be as new as the
//!   version of `rusqlite` asks for: 3.45.3 for 0.41.
//!
//! A program can link one SQLite alone, so all that use it must agree on a version of `libsqlite3-sys`. This crate takes
//! `rusqlite` from 0.39 to 0.41; Cargo chooses the one that suits the others, and no type of it is in this crate's API.

mod accounts;
mod admin;
mod cache;
mod connection;
mod credentials;
mod error;
mod export;
mod file;
mod import;
mod integrity;
mod locks;
mod migration;
mod open_error;
mod put;
mod read;
mod readers;
mod rows;
mod storage;
mod wal_index;
mod wal_watcher;
mod write;

pub use integrity::Integrity;
pub use migration::Migrated;
pub use open_error::OpenError;
pub use storage::SqliteStorage;
