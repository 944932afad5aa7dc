//! [`Database`]: the location of a database, its versions, and connections to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use crate::error::storage_error;
use crate::file::{self, FileVersion};
use crate::open_error::OpenError;
use crate::row_buffer;
use crate::views::{trust, wal_files};

/// Application id in the header of the catalogue's databases: the letters `ctlg`.
pub(crate) const APPLICATION_ID: i32 = 0x6374_6c67;
/// Application id of a database with keys for courses in views: the letters `ctlk`.
pub(crate) const KEYS_APPLICATION_ID: i32 = 0x6374_6c6b;
/// Application id of builds before schema version 1 was redefined: the letters `ccat`.
const UNRELEASED_ID: i32 = 0x6363_6174;

/// Default timeout for a lock that another connection holds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Size to which the WAL is truncated after a checkpoint, in bytes.
pub(crate) const WAL_SIZE_LIMIT: i64 = 64 << 20;
/// Size of a writer's page cache, in KiB. It bounds an import's memory; changed pages beyond it go to the WAL.
const WRITER_CACHE_KIB: i64 = 32 << 10;

/// Location of a database.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    File(PathBuf),
    /// A file of another program, which is only read.
    HostApplication(PathBuf),
    /// In this process's memory, by number.
    Memory(u64),
}

impl Database {
    /// Returns the schema version of an existing database with one of `application_ids`; 0 if it is empty. Changes nothing.
    pub(crate) fn inspect(&self, application_ids: &[i32]) -> Result<u32, OpenError> {
        if let Self::File(path) = self {
            file::check(path)?;
        }
        let connection = self.open_exporter().map_err(|source| self.failed(source))?;
        version_of(&connection, application_ids)
            .map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::NotADatabase(self.path()),
                _ => self.failed(storage_error(error)),
            })?
            .ok_or_else(|| self.refusal(&connection))
    }

    /// Returns why a database with another application id is refused.
    fn refusal(&self, connection: &Connection) -> OpenError {
        let beside_views = has_prefixed_tables(connection).unwrap_or_default();
        if beside_views || application_id(connection) == Ok(UNRELEASED_ID) {
            OpenError::UnreleasedSchema { path: self.path(), beside_views }
        } else {
            OpenError::OtherApplication(self.path())
        }
    }

    /// Returns the identity and version of the file at the path.
    pub(crate) fn file_version(&self) -> Result<FileVersion, StorageError> {
        match self {
            Self::File(path) | Self::HostApplication(path) => {
                fs::metadata(path).map(|metadata| FileVersion::of(&metadata)).map_err(|error| {
                    StorageError::new(StorageErrorKind::Unavailable, "cannot access the database file")
                        .with_source(error)
                })
            }
            Self::Memory(number) => Ok(FileVersion::in_memory(*number)),
        }
    }

    /// Opens a read-only connection for requests. Its authorizer denies module bodies in the catalogue's tables, and all but
    /// reading in a host application's file. Its reads fail immediately if the database is locked.
    pub(crate) fn open_reader(&self) -> Result<Connection, StorageError> {
        let mut connection = self.open_exporter()?;
        connection.busy_timeout(Duration::ZERO).map_err(storage_error)?;
        let authorizer =
            if matches!(self, Self::HostApplication(_)) { refuse_all_but_reading } else { refuse_module_contents };
        connection.authorizer(Some(authorizer)).map_err(storage_error)?;
        row_buffer::register(&connection).map_err(storage_error)?;
        Ok(connection)
    }

    /// Opens a read-only connection that can read everything, including module bodies.
    pub(crate) fn open_exporter(&self) -> Result<Connection, StorageError> {
        if let Self::HostApplication(path) = self {
            wal_files::check(path)?;
        }
        self.open(OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(storage_error)
    }

    /// Opens a connection that can read and write. Creates a missing file with mode 0640.
    pub(crate) fn open_writer(&self) -> Result<Connection, OpenError> {
        if let Self::File(path) = self {
            file::make_private(path);
        }
        let connection = self.open_writable(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        self.prepare_for_writing(&connection).map_err(|error| self.failed(storage_error(error)))?;
        Ok(connection)
    }

    /// Opens a connection that can write rows of an existing database, and changes nothing else of the file.
    pub(crate) fn open_updater(&self) -> Result<Connection, OpenError> {
        let connection = self.open_writable(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let enabled = connection.pragma_update(None, "foreign_keys", true);
        enabled.map_err(|error| self.failed(storage_error(error)))?;
        Ok(connection)
    }

    fn open_writable(&self, flags: OpenFlags) -> Result<Connection, OpenError> {
        if self.is_marked_read_only() {
            return Err(OpenError::ReadOnly(self.path()));
        }
        let failed = |error| self.failed(storage_error(error));
        let connection = self.open(flags).map_err(failed)?;
        if connection.is_readonly(MAIN_DB).map_err(failed)? {
            return Err(OpenError::ReadOnly(self.path()));
        }
        Ok(connection)
    }

    fn prepare_for_writing(&self, connection: &Connection) -> rusqlite::Result<()> {
        if matches!(self, Self::File(_)) {
            connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            connection.pragma_update_and_check(None, "journal_size_limit", WAL_SIZE_LIMIT, |_| Ok(()))?;
        }
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)
    }

    pub(crate) fn open(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self {
            // The leading dot keeps SQLite from reading a path as a URI or a special name, such as `:memory:`.
            Self::File(path) | Self::HostApplication(path) if path.is_relative() => {
                Connection::open_with_flags(Path::new(".").join(path), flags)?
            }
            Self::File(path) | Self::HostApplication(path) => Connection::open_with_flags(path, flags)?,
            Self::Memory(number) => {
                let uri = format!("file:/catalogue-{number}?vfs=memdb");
                Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
            }
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Otherwise SQLite prepares a cached statement again at each execution, in case a value needs another plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        if matches!(self, Self::HostApplication(_)) {
            // Lets the host application's views call functions that only compute, but none with side effects.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            // Writers may turn foreign keys off, so `views::trust` must not rely on triggers that cascading deletes fire.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
        }
        Ok(connection)
    }

    /// Returns whether the file's mode forbids writing; the superuser could write anyway.
    fn is_marked_read_only(&self) -> bool {
        let Self::File(path) = self else { return false };
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
    }

    pub(crate) fn failed(&self, source: StorageError) -> OpenError {
        OpenError::Failed { path: self.path(), source }
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) | Self::HostApplication(path) => path.clone(),
            Self::Memory(_) => PathBuf::from(":memory:"),
        }
    }
}

/// Returns the schema version, 0 for an empty database; `None` if it has none of `application_ids`.
pub(crate) fn version_of(connection: &Connection, application_ids: &[i32]) -> rusqlite::Result<Option<u32>> {
    let application_id = application_id(connection)?;
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let is_empty: bool =
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    let is_ours = application_ids.contains(&application_id) || (application_id == 0 && is_empty && version == 0);
    Ok(is_ours.then_some(version))
}

/// Returns whether an unreleased build stored keys in this file, which may be another program's, in tables `catalogue_…`.
fn has_prefixed_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' \
               AND name IN ('catalogue_version', 'catalogue_schema_version'))";
    connection.query_row(sql, [], |row| row.get(0))
}

fn application_id(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Denies reading module bodies, which only exports need: SQLite itself refuses a statement that reads one for a request.
fn refuse_module_contents(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Read { table_name: "module_contents", .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}

/// Allows what views need, the pragmas that this crate reads, and statements that `views::trust` prepares but never runs.
/// The file is also opened read-only.
fn refuse_all_but_reading(context: AuthContext<'_>) -> Authorization {
    if trust::record(&context) {
        return Authorization::Allow;
    }
    match context.action {
        AuthAction::Read { .. }
        | AuthAction::Select
        | AuthAction::Function { .. }
        | AuthAction::Recursive
        | AuthAction::Transaction { .. }
        | AuthAction::Pragma { pragma_value: None, .. } => Authorization::Allow,
        _ => Authorization::Deny,
    }
}
