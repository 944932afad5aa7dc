//! [`Database`]: where a database is, what state it is in, and connections to it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalogue_core::{StorageError, StorageErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use crate::error::storage_error;
use crate::open_error::OpenError;

/// Marks a database as ours in its header: the letters `ccat`.
pub(crate) const APPLICATION_ID: i32 = 0x6363_6174;

/// How long a statement waits for a lock of another connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an emptying of the WAL waits for readers.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(200);
/// The WAL is cut back to this size once it has been written to the database, in bytes.
const WAL_SIZE_LIMIT: i64 = 64 << 20;
/// A writer's page cache, in KiB. It bounds an import's memory; what is over goes to the WAL.
const WRITER_CACHE_KIB: i64 = 32 << 10;

/// Where a database is.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    File(PathBuf),
    /// In this process's memory, by number.
    Memory(u64),
}

/// Which file stands at a path: another one has another identity, also under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

/// A file as it was when it was last written to. In WAL mode that is by checkpoints, so this changes rarely; it also
/// changes when somebody copies another database over this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) identity: FileIdentity,
    length: u64,
    changed: ChangeTime,
}

/// In seconds and nanoseconds. On Unix the time of the last change of status, which nobody can set back.
type ChangeTime = (i64, i64);

/// What an existing database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is in it yet.
    Empty,
    /// It is ours, of that schema version.
    Ours(u32),
}

impl Database {
    /// Looks at an existing database without changing it.
    pub(crate) fn inspect(&self) -> Result<State, OpenError> {
        if let Self::File(path) = self {
            check_file(path)?;
        }
        let connection = self.open_reader().map_err(|source| self.failed(source))?;
        state_of(&connection)
            .map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::NotADatabase(self.path()),
                _ => self.failed(storage_error(error)),
            })?
            .ok_or_else(|| OpenError::Foreign(self.path()))
    }

    /// Which file stands at the path now, and of when it is.
    pub(crate) fn file_version(&self) -> Result<FileVersion, StorageError> {
        match self {
            Self::File(path) => {
                let gone = |error| {
                    StorageError::new(StorageErrorKind::Unavailable, "the database file is out of reach")
                        .with_source(error)
                };
                fs::metadata(path).map(|metadata| FileVersion::of(&metadata)).map_err(gone)
            }
            Self::Memory(number) => Ok(FileVersion { identity: FileIdentity(0, *number), length: 0, changed: (0, 0) }),
        }
    }

    /// A connection that can read what the API shows, and nothing else.
    pub(crate) fn open_reader(&self) -> Result<Connection, StorageError> {
        let mut connection = self.open_exporter()?;
        connection.authorizer(Some(refuse_module_contents)).map_err(storage_error)?;
        Ok(connection)
    }

    /// A connection that can read everything.
    pub(crate) fn open_exporter(&self) -> Result<Connection, StorageError> {
        let connection = self.open(OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(storage_error)?;
        Ok(connection)
    }

    /// A connection that can read and write, and makes the file where it is missing: for its owner to write, for the
    /// owner's group to read, and for nobody else.
    pub(crate) fn open_writer(&self) -> Result<Connection, OpenError> {
        if let Self::File(path) = self {
            make_private(path);
        }
        let connection = self.open_writable(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        self.prepare_for_writing(&connection).map_err(|error| self.failed(storage_error(error)))?;
        Ok(connection)
    }

    /// A connection that can write rows of a database that is there, and changes nothing else of the file.
    pub(crate) fn open_updater(&self) -> Result<Connection, OpenError> {
        self.open_writable(OpenFlags::SQLITE_OPEN_READ_WRITE)
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
        // A key that was shown must not be lost with the power.
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)
    }

    fn open(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self {
            // Behind a dot, no path is a URI or a name with a meaning to SQLite.
            Self::File(path) if path.is_relative() => Connection::open_with_flags(Path::new(".").join(path), flags)?,
            Self::File(path) => Connection::open_with_flags(path, flags)?,
            Self::Memory(number) => {
                let uri = format!("file:/catalogue-{number}?vfs=memdb");
                Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
            }
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Without it SQLite prepares a cached statement anew at each execution, in case a value wants another plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    }

    /// Whether the file's mode forbids writing; the superuser could write all the same.
    fn is_marked_read_only(&self) -> bool {
        let Self::File(path) = self else { return false };
        fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
    }

    pub(crate) fn failed(&self, source: StorageError) -> OpenError {
        OpenError::Failed { path: self.path(), source }
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory(_) => PathBuf::from(":memory:"),
        }
    }
}

impl FileVersion {
    fn of(metadata: &fs::Metadata) -> Self {
        Self { identity: FileIdentity::of(metadata), length: metadata.len(), changed: change_time_of(metadata) }
    }
}

#[cfg(unix)]
fn change_time_of(metadata: &fs::Metadata) -> ChangeTime {
    use std::os::unix::fs::MetadataExt as _;

    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn change_time_of(metadata: &fs::Metadata) -> ChangeTime {
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    modified.map_or((0, 0), |time| (time.as_secs() as i64, i64::from(time.subsec_nanos())))
}

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self(metadata.dev(), metadata.ino())
    }

    /// Where files have no number, the time of their making stands for it.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        let created = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Self(0, created.map_or(0, |time| time.as_nanos() as u64))
    }
}

/// Writes the WAL back to the database and empties it, so that a file that is put in the database's place does not meet a
/// WAL of the old one. Constant readers can keep SQLite's own checkpoint from ever finishing, and the WAL would grow.
///
/// It is no fault when this one cannot finish either: all is committed.
pub(crate) fn empty_wal(connection: &Connection) {
    let checkpoint = connection
        .busy_timeout(CHECKPOINT_TIMEOUT)
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0)));
    if !matches!(checkpoint, Ok(false)) {
        tracing::debug!(?checkpoint, "the WAL was not emptied: somebody is reading");
    }
}

/// Makes an empty file where there is none, as SQLite would do, which lets everybody read it. Its WAL takes over the mode.
/// What stands in the way is told by SQLite.
fn make_private(path: &Path) {
    let mut file = OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o640);
    drop(file.open(path));
}

fn check_file(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(OpenError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            match directory {
                Some(directory) if !directory.is_dir() => Err(OpenError::MissingDirectory(path.to_owned())),
                _ => Err(OpenError::Missing(path.to_owned())),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(OpenError::MissingDirectory(path.to_owned())),
        Err(error) => {
            let source =
                StorageError::new(StorageErrorKind::Unavailable, "its file cannot be looked at").with_source(error);
            Err(OpenError::Failed { path: path.to_owned(), source })
        }
    }
}

/// What the database is; `None` when it is another program's.
pub(crate) fn state_of(connection: &Connection) -> rusqlite::Result<Option<State>> {
    let application_id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let is_empty: bool =
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    Ok(match application_id {
        APPLICATION_ID => Some(State::Ours(version)),
        0 if is_empty && version == 0 => Some(State::Empty),
        _ => None,
    })
}

/// Module bodies are for exports alone: the engine itself refuses a statement of the request path that would read one.
fn refuse_module_contents(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Read { table_name: "module_contents", .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}
