//! [`Readers`]: read-only connections, one for each call that runs at the same time.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use catalogue_core::{StorageError, StorageErrorKind};
use rusqlite::Connection;

use crate::connection::{Database, FileIdentity, FileVersion};
use crate::error::storage_error;
use crate::kept::Kept;
use crate::watch::Watches;

/// A read that takes longer is interrupted. Each is bounded by an index, so only a disk that hardly answers gets here.
const DEADLINE: Duration = Duration::from_secs(5);

/// How many steps of SQLite's engine pass between two looks at the clock; a page of fifty takes about a thousand.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// How often a file may be replaced while it is opened.
const ATTEMPTS: usize = 5;

/// What the clocks of all readers count from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Read by every read transaction of this process, written by whoever closes connections to a file that was replaced.
///
/// SQLite has the `-shm` of a file open once for all connections. Where one was put in the place of another and the old
/// `-shm` was left, both files have it open, and closing it for the old file drops the locks of the new one's readers.
static CLOSING: RwLock<()> = RwLock::new(());

/// Connections at rest. A read takes one, works on its own thread without waiting, and puts it back; so there are never
/// more than threads that read.
pub(crate) struct Readers {
    database: Database,
    idle: Mutex<Vec<Reader>>,
    watches: Watches,
    /// Keeps a database in memory alive.
    _anchor: Option<Mutex<Connection>>,
}

/// A connection to the file that stood at the database's path when it was opened.
struct Reader {
    connection: Connection,
    file: FileVersion,
    /// When the read that runs now began, in microseconds since [`EPOCH`].
    began: Arc<AtomicU64>,
}

impl Readers {
    pub(crate) fn new(database: Database, anchor: Option<Connection>) -> Self {
        let anchor = anchor.map(Mutex::new);
        Self { database, idle: Mutex::default(), watches: Watches::default(), _anchor: anchor }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Runs `read` on a connection to the file that stands at the path now.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.read_from(self.file()?, read)
    }

    /// What `kept` has for `key` if nothing was committed since it was read, else what `read` finds. What is not there is
    /// not kept.
    pub(crate) fn read_once<K: Hash + Eq + Clone, V: Clone>(
        &self,
        kept: &Kept<K, V>,
        key: &K,
        read: impl FnOnce(&Connection) -> rusqlite::Result<Option<V>>,
    ) -> Result<Option<V>, StorageError> {
        let file = self.file()?;
        // Looked at before the reading: what is committed in between is then taken for newer than what was read.
        let Some(moment) = self.watches.moment(&self.database, file) else {
            return self.read_from(file, read);
        };
        if let Some(value) = kept.get(key, moment) {
            return Ok(Some(value));
        }
        let value = self.read_from(file, read)?;
        if let Some(value) = &value {
            kept.put(key.clone(), moment, value.clone());
        }
        Ok(value)
    }

    /// The file that stands at the path now. One that was put in the place of another is another database, and its data
    /// is what counts.
    fn file(&self) -> Result<FileVersion, StorageError> {
        let file = self.database.file_version()?;
        if self.watches.is_of_another(file.identity) {
            self.close_all_but(file.identity);
        }
        Ok(file)
    }

    /// Closes every connection to another file, before the first to that one is opened and while nobody reads.
    fn close_all_but(&self, file: FileIdentity) {
        let _alone = CLOSING.write().unwrap_or_else(PoisonError::into_inner);
        self.idle().retain(|reader| reader.file.identity == file);
        self.watches.end_unless_of(file);
    }

    /// Runs `read` on a connection to that file. A connection that met an error is closed instead of kept.
    fn read_from<T>(
        &self,
        file: FileVersion,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        let mut file = file;
        for _ in 0..ATTEMPTS {
            let not_closing = CLOSING.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(reader) = self.take(file).map_or_else(|| Reader::open(&self.database, file), |r| Ok(Some(r)))? {
                reader.began.store(micros_since_epoch(), Ordering::Relaxed);
                let value = read(&reader.connection).map_err(storage_error)?;
                self.idle().push(reader);
                return Ok(value);
            }
            drop(not_closing);
            file = self.file()?;
        }
        let message = "the database file is replaced again and again; try again later";
        Err(StorageError::new(StorageErrorKind::Unavailable, message))
    }

    /// A connection at rest that has read that version of the file; those that have read another are closed.
    fn take(&self, file: FileVersion) -> Option<Reader> {
        let mut idle = self.idle();
        while let Some(reader) = idle.pop() {
            if reader.file == file {
                return Some(reader);
            }
        }
        None
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        // Taking and putting back cannot leave the list in between.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// A connection to the file, or `None` when another one stands at the path meanwhile.
    fn open(database: &Database, file: FileVersion) -> Result<Option<Self>, StorageError> {
        let mut connection = database.open_reader()?;
        // The first read opens the WAL, by its name.
        connection.pragma_query_value(None, "schema_version", |_| Ok(())).map_err(storage_error)?;
        if database.file_version()?.identity != file.identity {
            return Ok(None);
        }
        let began = Arc::new(AtomicU64::new(micros_since_epoch()));
        let watched = Arc::clone(&began);
        let too_late =
            move || micros_since_epoch().saturating_sub(watched.load(Ordering::Relaxed)) > DEADLINE.as_micros() as u64;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(too_late)).map_err(storage_error)?;
        Ok(Some(Self { connection, file, began }))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let _alone = CLOSING.write().unwrap_or_else(PoisonError::into_inner);
        self.idle().clear();
        self.watches.end();
    }
}

fn micros_since_epoch() -> u64 {
    EPOCH.elapsed().as_micros() as u64
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::storage::SqliteStorage;

    /// A database in a file, and how often it was really read.
    struct Counted {
        directory: TempDir,
        readers: Readers,
        kept: Kept<u8, i64>,
        reads: Cell<u32>,
    }

    impl Counted {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("catalogue.db");
            SqliteStorage::migrate(&path).unwrap();
            let readers = Readers::new(Database::File(path), None);
            Self { directory, readers, kept: Kept::new(10), reads: Cell::new(0) }
        }

        fn host(&self) -> Connection {
            Connection::open(self.directory.path().join("catalogue.db")).unwrap()
        }

        /// How many accounts there are; none of them is not kept.
        fn accounts(&self) -> Option<i64> {
            let count = |connection: &Connection| {
                self.reads.set(self.reads.get() + 1);
                let count = connection.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0))?;
                Ok(Some(count).filter(|count| *count > 0))
            };
            self.readers.read_once(&self.kept, &0, count).unwrap()
        }
    }

    const ADD: &str = "INSERT INTO accounts (id) VALUES (hex(randomblob(8)))";

    #[test]
    #[cfg(target_os = "linux")]
    fn a_value_is_read_once_until_something_is_committed() {
        let database = Counted::new();
        let host = database.host();
        for round in 1..=20 {
            host.execute(ADD, []).unwrap();
            for _ in 0..3 {
                assert_eq!(database.accounts(), Some(round));
            }
            assert_eq!(i64::from(database.reads.get()), round);
        }
        host.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        assert_eq!(database.accounts(), Some(20));
        host.execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(21));
    }

    #[test]
    fn what_is_not_there_is_asked_for_again() {
        let database = Counted::new();
        for _ in 0..3 {
            assert_eq!(database.accounts(), None);
        }
        assert_eq!(database.reads.get(), 3);
    }

    #[test]
    fn a_transaction_that_is_open_or_rolled_back_changes_nothing() {
        let database = Counted::new();
        let mut host = database.host();
        host.execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(1));
        let transaction = host.transaction().unwrap();
        transaction.execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(1));
        transaction.rollback().unwrap();
        assert_eq!(database.accounts(), Some(1));
    }

    #[test]
    fn a_database_without_a_wal_is_read_each_time() {
        let database = Counted::new();
        let host = database.host();
        host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
        for round in 1..=3 {
            host.execute(ADD, []).unwrap();
            assert_eq!(database.accounts(), Some(round));
            assert_eq!(database.accounts(), Some(round));
        }
        assert_eq!(database.reads.get(), 6);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn while_it_is_watched_nobody_takes_it_out_of_the_wal() {
        let database = Counted::new();
        let host = database.host();
        host.execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(1));
        // What reads have left behind is gone; the watching connection stays.
        database.readers.idle().clear();
        let mode: rusqlite::Result<String> = host.query_row("PRAGMA journal_mode = delete", [], |row| row.get(0));
        assert!(mode.as_ref().map_or(true, |mode| mode == "wal"), "{mode:?}");
        drop(host);
        assert!(database.directory.path().join("catalogue.db-shm").exists());
        database.host().execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(2));
    }

    #[test]
    fn another_file_is_another_database() {
        let (database, other) = (Counted::new(), Counted::new());
        database.host().execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(1));
        for _ in 0..2 {
            other.host().execute(ADD, []).unwrap();
        }
        // The last connection that closes writes the WAL back.
        let [path, new] = [&database, &other].map(|of| of.directory.path().join("catalogue.db"));
        std::fs::rename(new, path).unwrap();
        assert_eq!(database.accounts(), Some(2));
        assert_eq!(database.accounts(), Some(2));
    }

    /// The index of an empty WAL looks the same whatever is in the database.
    #[test]
    #[cfg(unix)]
    fn a_file_that_was_let_go_and_comes_back_is_read_anew() {
        let directory = tempfile::tempdir().unwrap();
        let [link, here, there] = ["link", "here", "there"].map(|name| directory.path().join(name));
        let lead_to = |place: &std::path::Path| {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(place, &link).unwrap();
        };
        for place in [&here, &there] {
            std::fs::create_dir(place).unwrap();
            SqliteStorage::migrate(place.join("catalogue.db")).unwrap();
            Connection::open(place.join("catalogue.db")).unwrap().execute(ADD, []).unwrap();
        }
        let readers = Readers::new(Database::File(link.join("catalogue.db")), None);
        let database = Counted { directory, readers, kept: Kept::new(10), reads: Cell::new(0) };

        lead_to(&here);
        assert_eq!(database.accounts(), Some(1));
        lead_to(&there);
        database.readers.read_once(&Kept::new(1), &0, |_| Ok(Some(0))).unwrap();
        // Nobody of us has the file open, so its WAL ends with this connection, and begins anew with the next.
        Connection::open(here.join("catalogue.db")).unwrap().execute(ADD, []).unwrap();
        lead_to(&here);
        assert_eq!(database.accounts(), Some(2));
    }
}
