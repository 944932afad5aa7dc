#![doc = include_str!("../README.md")]
//!
//! # How it works
//! Reads run on the calling thread, over read-only connections. Each reads one or two ranges of an index, which costs less
//! than a switch to another thread. The database is in WAL mode, so writers and readers do not wait for each other. If
//! another program has locked it nevertheless, a request waits for at most a second, and then fails as
//! [`Busy`](catalogue_core::storage::StorageErrorKind::Busy).
//! While the disk is slow or the database is locked, reads are offloaded if the host application passes a function to
//! [`SqliteStorage::offload_reads`]; otherwise a read blocks the other tasks of its thread.
//! Changes by the developer settings are written on a dedicated thread. Triggers update each account's revision, so the
//! host application may write to the tables with plain SQL.
//!
//! Lookups of credentials, revocations and revisions are cached until the next commit of any process. On Linux the `-shm`,
//! mapped into memory, shows whether there was one. On other systems, and without a WAL, each lookup reads the database.
//!
//! # The file
//! While a process has the database open, it must open the database, its `-wal` and its `-shm` only through SQLite. Closing
//! a file drops the process's locks on it (POSIX). To back up, use [`SqliteStorage::back_up_to`] or another process. No
//! program may truncate the `-shm` in the meantime. SQLite and this crate map it into memory, and losing a mapped page
//! ends the process (`SIGBUS`).
//!
//! A replaced database file is noticed within a millisecond. If the process has several storages or other connections open
//! on the path, remove the old `-wal` and `-shm` before the replacement, so that no two files share them.

mod accounts;
mod admin;
mod backup;
mod columns;
mod connection;
mod credentials;
mod dedicated_thread;
mod error;
mod events;
mod export;
mod file;
mod import;
mod imported_keys;
mod integrity;
mod keys;
mod migration;
mod open_error;
mod plan;
mod read;
mod read_offload;
mod readers;
mod revocations;
mod row_buffer;
mod rows;
#[cfg_attr(not(target_os = "linux"), path = "shm_map_unsupported.rs")]
mod shm_map;
mod sign_ins;
mod storage;
mod sync;
mod views;
mod wal_index;
mod write;

pub use backup::BackupError;
pub use integrity::Integrity;
pub use migration::Migrated;
pub use open_error::OpenError;
pub use storage::SqliteStorage;
