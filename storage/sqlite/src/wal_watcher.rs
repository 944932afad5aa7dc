//! [`WalWatcher`]: the version of the file that stands at the database's path, by one small read of its WAL's index.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::cache::Version;
use crate::connection::Database;
use crate::error::storage_error;
use crate::file::{FileIdentity, FileVersion};

/// How long the header of a WAL's index is, in bytes; two copies of it stand at the start of the file.
const HEADER: usize = 48;
/// Which form of the index this is.
const VERSION: [u8; 4] = 3_007_000_u32.to_ne_bytes();
/// Where the header says that it is in use.
const IS_IN_USE: usize = 12;

/// Watches one file; none before the first look.
#[derive(Default)]
pub(crate) struct WalWatcher(RwLock<Option<Watched>>);

/// All that is in a file. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    Wal(Version),
    /// How often one connection, which the epoch tells from all others, has seen that another has committed.
    Seen {
        epoch: u64,
        file: FileVersion,
        commits: i64,
    },
}

/// A file whose commits are watched.
struct Watched {
    /// As it was when this began.
    file: FileVersion,
    /// No other one of this process has it.
    epoch: u64,
    /// Nothing where the file has no WAL.
    index: Option<WalIndex>,
    /// Holds the file in WAL mode, so that the index can be relied on.
    connection: Mutex<Connection>,
}

impl WalWatcher {
    /// The version of the file, where it can be told without a transaction.
    pub(crate) fn version(&self, database: &Database, file: FileVersion) -> Option<Version> {
        if let Some(watched) = self.watched().as_ref()
            && watched.is_of(file)
        {
            return watched.version(file);
        }
        let watched = Watched::begin(database, file).ok()??;
        let version = watched.version(file);
        *self.watched_mut() = Some(watched);
        version
    }

    /// The state of that file, or `None` when another one stands at the path meanwhile.
    pub(crate) fn state(&self, database: &Database, file: FileVersion) -> Result<Option<FileState>, StorageError> {
        if let Some(watched) = self.watched().as_ref()
            && watched.is_of(file)
        {
            return watched.state(file).map(Some);
        }
        let Some(watched) = Watched::begin(database, file)? else { return Ok(None) };
        let state = watched.state(file)?;
        *self.watched_mut() = Some(watched);
        Ok(Some(state))
    }

    /// Whether another file than that one is watched.
    pub(crate) fn is_of_another(&self, file: FileIdentity) -> bool {
        self.watched().as_ref().is_some_and(|watched| watched.file.identity != file)
    }

    /// Whether another index than the one that is watched stands at its path, or none. Within this process SQLite goes on with
    /// the one that it has, as long as one connection is open.
    pub(crate) fn has_lost_its_index(&self) -> bool {
        let watched = self.watched();
        watched.as_ref().and_then(|watched| watched.index.as_ref()).is_some_and(|index| !index.is_at_its_path())
    }

    /// Watches no other file than that one any more.
    pub(crate) fn stop_unless_of(&self, file: Option<FileIdentity>) {
        self.watched_mut().take_if(|watched| Some(watched.file.identity) != file);
    }

    fn watched(&self) -> RwLockReadGuard<'_, Option<Watched>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched_mut(&self) -> RwLockWriteGuard<'_, Option<Watched>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Begins to watch the file, if it still stands at the path.
    fn begin(database: &Database, file: FileVersion) -> Result<Option<Self>, StorageError> {
        static EPOCHS: AtomicU64 = AtomicU64::new(0);

        let connection = database.open_reader()?;
        // The first read opens the WAL.
        let first_read = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
        connection.query_row(first_read, [], |_| Ok(())).map_err(storage_error)?;
        let index = WalIndex::of(&connection);
        let epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        let watched = Self { file, epoch, index, connection: Mutex::new(connection) };
        Ok((database.file_version()?.identity == file.identity).then_some(watched))
    }

    fn version(&self, file: FileVersion) -> Option<Version> {
        Some(Version { epoch: self.epoch, file, wal: self.index.as_ref()?.state()? })
    }

    fn state(&self, file: FileVersion) -> Result<FileState, StorageError> {
        if let Some(version) = self.version(file) {
            return Ok(FileState::Wal(version));
        }
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let commits = connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(storage_error)?;
        Ok(FileState::Seen { epoch: self.epoch, file, commits })
    }

    /// Whether the file is the one that is watched. Without an index only in this version: a later one may have a WAL.
    fn is_of(&self, file: FileVersion) -> bool {
        self.file.identity == file.identity && (self.index.is_some() || self.file == file)
    }
}

/// The file in which the connections to a database in WAL mode, of all processes, share where the last commit ends
/// (the "WAL-index" of SQLite's file formats, `-shm` beside the database).
///
/// Every commit replaces its header, and readers of SQLite itself begin at what it says. So as long as it is the same, the
/// database is, provided that no connection can leave the WAL meanwhile: whoever relies on that keeps a connection open
/// that has read once, whose locks bar the others from another journal mode and from removing the file. There is none
/// where files and memory maps of them are not known to agree.
struct WalIndex {
    file: Arc<File>,
    identity: FileIdentity,
    path: PathBuf,
}

/// What the header was at some instant. Equal only where nothing was committed between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalState([u8; HEADER]);

impl WalIndex {
    /// That of the database which `connection` has read, or `None` where it has no WAL or none that can be watched.
    fn of(connection: &Connection) -> Option<Self> {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).ok()?;
        if mode != "wal" || !cfg!(target_os = "linux") {
            return None;
        }
        let path = beside(Path::new(connection.path()?));
        let file = open_for_long(&path)?;
        let index = Self { identity: FileIdentity::of(&file.metadata().ok()?), file, path };
        index.state().is_some().then_some(index)
    }

    /// What the header is now; `None` while it is being replaced.
    fn state(&self) -> Option<WalState> {
        let mut copies = [0; 2 * HEADER];
        read_start(&self.file, &mut copies)?;
        let (first, second) = copies.split_at(HEADER);
        let is_valid = first == second && first.starts_with(&VERSION) && first[IS_IN_USE] == 1;
        is_valid.then(|| WalState(first.try_into().expect("half of two headers")))
    }

    fn is_at_its_path(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| FileIdentity::of(&metadata) == self.identity)
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-shm");
    path.into()
}

/// Opens a file once, and closes it only when nobody can open it any more: closing it drops every lock that SQLite holds on
/// it in this process (POSIX).
fn open_for_long(path: &Path) -> Option<Arc<File>> {
    static OPEN: Mutex<Vec<(FileIdentity, Arc<File>)>> = Mutex::new(Vec::new());

    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = FileIdentity::of(&fs::metadata(path).ok()?);
    if let Some((_, file)) = open.iter().find(|(known, _)| *known == identity) {
        return Some(Arc::clone(file));
    }
    open.retain(|(_, file)| Arc::strong_count(file) > 1 || !is_removed(file));
    let file = Arc::new(File::open(path).ok()?);
    // Another file may stand there by now; it is this one that is open.
    open.push((FileIdentity::of(&file.metadata().ok()?), Arc::clone(&file)));
    Some(file)
}

/// Whether the file has no name any more.
#[cfg(unix)]
fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

#[cfg(not(unix))]
fn is_removed(_: &File) -> bool {
    false
}

#[cfg(unix)]
fn read_start(file: &File, buffer: &mut [u8]) -> Option<()> {
    use std::os::unix::fs::FileExt as _;

    file.read_exact_at(buffer, 0).ok()
}

#[cfg(not(unix))]
fn read_start(_: &File, _: &mut [u8]) -> Option<()> {
    None
}
