//! [`SqliteStorage`]: opening a database.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{Revision, StorageError};
use rusqlite::Connection;

use crate::cache::Cache;
use crate::connection::{BUSY_TIMEOUT, Database};
use crate::migration::{self, Migrated, SCHEMA_VERSION};
use crate::open_error::OpenError;
use crate::own_thread::on_own_thread;
use crate::readers::Readers;
use crate::tables::{Names, Tables};
use crate::views::ViewedCourses;
use crate::write::WriteTransaction;

/// How many credentials, revisions and revocations are cached, of each; together they take up some six MiB.
const CACHE_ENTRIES: usize = 10_000;
/// The longest that [`SqliteStorage::write_timeout`] takes; SQLite counts milliseconds in 32 bits.
const LONGEST_WRITE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Accounts, courses and credentials in one SQLite database. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct SqliteStorage {
    pub(crate) readers: Arc<Readers>,
    pub(crate) caches: Arc<Caches>,
    /// Where the courses are, if they are another program's.
    pub(crate) views: Option<Arc<ViewedCourses>>,
    write_timeout: Duration,
}

/// What every request looks up.
pub(crate) struct Caches {
    pub(crate) credentials: Cache<TokenDigest, Credential>,
    pub(crate) revisions: Cache<AccountId, Revision>,
    /// Whether a signed token is revoked.
    pub(crate) revocations: Cache<TokenDigest, bool>,
}

impl SqliteStorage {
    /// Opens an existing database of the current schema.
    ///
    /// # Errors
    /// When there is none, it cannot be read, it is not one of ours, or it is of another schema version. Nothing is changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let database = Database::File(path.as_ref().to_owned());
        let found = database.inspect()?;
        let path = path.as_ref().to_owned();
        match found.cmp(&SCHEMA_VERSION) {
            std::cmp::Ordering::Less => Err(OpenError::OlderSchema { path, found, known: SCHEMA_VERSION }),
            std::cmp::Ordering::Equal => Ok(Self::new(Readers::new(database, None), None)),
            std::cmp::Ordering::Greater => Err(OpenError::NewerSchema { path, found, known: SCHEMA_VERSION }),
        }
    }

    /// Opens a database, making the file where it is missing (not its directory) and bringing its schema up to date.
    ///
    /// ```
    /// use catalogue_core::Catalogue;
    /// use catalogue_sqlite::SqliteStorage;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("catalogue.db");
    /// let storage = SqliteStorage::open_and_migrate(path)?;
    /// let catalogue = Catalogue::with_api_keys(storage).build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`migrate`](Self::migrate).
    pub fn open_and_migrate(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::migrate(&path)?;
        Self::open(path)
    }

    /// Makes the file where it is missing and brings its schema up to date, all of it or nothing.
    ///
    /// # Errors
    /// When its directory is missing, or the file is no database of ours, of a newer version, or read-only and has to change.
    pub fn migrate(path: impl AsRef<Path>) -> Result<Migrated, OpenError> {
        migration::migrate(&Database::File(path.as_ref().to_owned()))
    }

    /// A new empty database in this process's memory, for demonstrations and tests. Clones share it.
    ///
    /// It has no WAL: while an import is under way, reads wait for it, and fail rather than wait for a second.
    ///
    /// # Errors
    /// When SQLite cannot make one.
    pub fn in_memory() -> Result<Self, OpenError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let database = Database::Memory(COUNT.fetch_add(1, Ordering::Relaxed));
        // The database lasts as long as one connection to it.
        let anchor = database.open_writer()?;
        migration::migrate(&database)?;
        Ok(Self::new(Readers::new(database, Some(anchor)), None))
    }

    /// Has reads run by `aside` while they are slow, which is where they wait for the disk; on a fast one, or with the file in
    /// memory, they go on running at once. `aside` runs what it is given, and keeps no other task of its thread waiting.
    /// On tokio's multi-threaded runtime that is `|read| tokio::task::block_in_place(read)`. The first call counts, for all clones.
    #[must_use]
    pub fn slow_reads_aside(self, aside: fn(&mut dyn FnMut())) -> Self {
        self.readers.slow.run_aside(aside);
        if let Some(views) = &self.views {
            views.readers.slow.run_aside(aside);
        }
        self
    }

    pub(crate) fn new(readers: Readers, views: Option<Arc<ViewedCourses>>) -> Self {
        let caches = Caches {
            credentials: Cache::new(CACHE_ENTRIES),
            revisions: Cache::new(CACHE_ENTRIES),
            revocations: Cache::new(CACHE_ENTRIES),
        };
        Self { readers: Arc::new(readers), caches: Arc::new(caches), views, write_timeout: BUSY_TIMEOUT }
    }

    /// The same with another limit for how long a call of [`KeyStorage`] or [`SignInStorage`] waits for another program that
    /// writes, such as an import: 5 seconds by default, a day at most. The call keeps no thread of the caller's meanwhile.
    /// Beyond the default, a call that has waited for a second says so in the log.
    ///
    /// [`KeyStorage`]: catalogue_core::storage::KeyStorage
    /// [`SignInStorage`]: catalogue_core::storage::SignInStorage
    #[must_use]
    pub fn write_timeout(mut self, longest: Duration) -> Self {
        self.write_timeout = longest.min(LONGEST_WRITE_TIMEOUT);
        self
    }

    /// Makes a change in one transaction, on a thread of its own. A call that is dropped leaves it to be done all the same.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Tables<'_>) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let storage = self.clone();
        on_own_thread(move || {
            let transaction = storage.begin_update()?;
            let outcome = change(&storage.tables(&transaction))?;
            transaction.commit()?;
            Ok(outcome)
        })
        .await
    }

    /// What `read` finds in our tables; it waits for no lock.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Tables<'_>) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.readers.read(|connection| read(&self.tables(connection)))
    }

    /// Our tables over a connection to their file.
    pub(crate) fn tables<'c>(&self, connection: &'c Connection) -> Tables<'c> {
        Tables::new(connection, if self.views.is_some() { Names::Prefixed } else { Names::Plain })
    }

    /// What writes to a database that is there, perhaps long after this was opened.
    fn begin_update(&self) -> Result<WriteTransaction, StorageError> {
        // Closes what is open of a file that was replaced.
        self.readers.look()?;
        WriteTransaction::begin_for(self.readers.database().open_updater()?, self.write_timeout)
    }

    /// What writes, for administration.
    pub(crate) fn begin(&self) -> Result<WriteTransaction, StorageError> {
        WriteTransaction::begin(self.readers.database().open_writer()?)
    }

    /// The same with more patience.
    pub(crate) fn begin_patiently(&self) -> Result<WriteTransaction, StorageError> {
        WriteTransaction::begin_patiently(self.readers.database().open_writer()?)
    }
}

impl fmt::Debug for SqliteStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut storage = f.debug_struct("SqliteStorage");
        storage.field("database", self.readers.database());
        if let Some(views) = &self.views {
            storage.field("views", views);
        }
        storage.finish_non_exhaustive()
    }
}
