//! [`SqliteStorage`]: constructors, options, and the begin of write transactions.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{Revision, StorageError};
use rusqlite::Connection;

use crate::connection::{BUSY_TIMEOUT, Database};
use crate::dedicated_thread::run_on_dedicated_thread;
use crate::migration::{self, Migrated};
use crate::open_error::OpenError;
use crate::readers::{Cache, Readers};
use crate::views::ViewedCourses;
use crate::write::WriteTransaction;

/// Maximum number of entries of each cache; the three caches together use about 6 MiB.
const CACHE_ENTRIES: usize = 10_000;
/// Maximum of [`SqliteStorage::write_timeout`]; SQLite counts milliseconds in 32 bits.
const MAX_WRITE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Storage in one SQLite database, or two if courses are in another program's views. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct SqliteStorage {
    pub(crate) readers: Arc<Readers>,
    pub(crate) caches: Arc<Caches>,
    /// Courses in another program's views; `None` if they are in the catalogue's own tables.
    pub(crate) views: Option<Arc<ViewedCourses>>,
    pub(crate) write_timeout: Duration,
}

/// Caches of the lookups of the request path.
pub(crate) struct Caches {
    pub(crate) credentials: Cache<TokenDigest, Credential>,
    pub(crate) revisions: Cache<AccountId, Revision>,
    /// Whether a signed token is revoked.
    pub(crate) revocations: Cache<TokenDigest, bool>,
}

impl SqliteStorage {
    /// Opens an existing database of the current schema. Changes nothing in it.
    ///
    /// # Errors
    /// Returns an error if the file is missing, unreadable, not a catalogue database, or of another schema version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let database = Database::File(path.as_ref().to_owned());
        migration::CATALOGUE_SCHEMA.check(&database)?;
        Ok(Self::new(Readers::new(database, None), None))
    }

    /// Creates a missing file (not its directory), migrates the schema, and opens the database.
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
    /// Returns the errors of [`migrate`](Self::migrate).
    pub fn open_and_migrate(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::migrate(&path)?;
        Self::open(path)
    }

    /// Creates the file if it is missing, and migrates its schema to the current version, all or nothing.
    ///
    /// # Errors
    /// Returns an error if the directory is missing, or if the file is not a catalogue database, has a newer schema version,
    /// or is outdated and read-only.
    pub fn migrate(path: impl AsRef<Path>) -> Result<Migrated, OpenError> {
        migration::CATALOGUE_SCHEMA.migrate(&Database::File(path.as_ref().to_owned()))
    }

    /// Creates an empty database in this process's memory, for demonstrations and tests. Clones share it.
    ///
    /// It has no WAL, so requests wait for an import, and fail after at most a second.
    ///
    /// # Errors
    /// Returns an error if SQLite cannot create it.
    pub fn in_memory() -> Result<Self, OpenError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let database = Database::Memory(COUNT.fetch_add(1, Ordering::Relaxed));
        // The database exists as long as a connection to it is open.
        let anchor = database.open_writer()?;
        migration::CATALOGUE_SCHEMA.migrate(&database)?;
        Ok(Self::new(Readers::new(database, Some(anchor)), None))
    }

    /// Offloads reads through `offload` while they wait for a slow disk or another program's lock.
    /// Other reads run on the calling thread. `offload` runs its argument without blocking the other tasks of its thread:
    /// on Tokio's multi-threaded runtime that is `|read| tokio::task::block_in_place(read)`. Without it, a read blocks the
    /// other tasks of its thread, for up to a second if there is a lock. Only the first call has an effect, for all clones.
    #[must_use]
    pub fn offload_reads(self, offload: fn(&mut dyn FnMut())) -> Self {
        self.readers.offload.set(offload);
        if let Some(views) = &self.views {
            views.readers.offload.set(offload);
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

    /// Sets how long a call of [`KeyStorage`] or [`SignInStorage`] waits for another program's write, such as an import.
    /// Default: 5 seconds; at most a day. The wait does not block the caller's thread. With more than the default, a call
    /// that has waited for a second logs a warning.
    ///
    /// [`KeyStorage`]: catalogue_core::storage::KeyStorage
    /// [`SignInStorage`]: catalogue_core::storage::SignInStorage
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout.min(MAX_WRITE_TIMEOUT);
        self
    }

    /// Runs `change` in one transaction on a dedicated thread. It completes even if the call is dropped.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let storage = self.clone();
        run_on_dedicated_thread(move || {
            let transaction = storage.begin_update()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        })
        .await
    }

    /// Begins a write to the existing file at the path, which may have been replaced since this storage was opened.
    fn begin_update(&self) -> Result<WriteTransaction, StorageError> {
        self.readers.close_replaced()?;
        WriteTransaction::begin(self.readers.database().open_updater()?, self.write_timeout)
    }

    /// Begins a write for administration. Creates a missing file.
    pub(crate) fn begin(&self, timeout: Duration) -> Result<WriteTransaction, StorageError> {
        WriteTransaction::begin(self.readers.database().open_writer()?, timeout)
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
