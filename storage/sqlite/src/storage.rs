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

use crate::connection::{BUSY_TIMEOUT, Database};
use crate::migration::{self, Migrated};
use crate::open_error::OpenError;
use crate::own_thread::on_own_thread;
use crate::readers::{Cache, Readers};
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
        migration::WHOLE.check(&database)?;
        Ok(Self::new(Readers::new(database, None), None))
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
        migration::WHOLE.migrate(&Database::File(path.as_ref().to_owned()))
    }

    /// A new empty database in this process's memory, for demonstrations and tests. Clones share it.
    ///
    /// It has no WAL: reads wait for an import, and fail after a second.
    ///
    /// # Errors
    /// When SQLite cannot make one.
    pub fn in_memory() -> Result<Self, OpenError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let database = Database::Memory(COUNT.fetch_add(1, Ordering::Relaxed));
        // The database lasts as long as one connection to it.
        let anchor = database.open_writer()?;
        migration::WHOLE.migrate(&database)?;
        Ok(Self::new(Readers::new(database, Some(anchor)), None))
    }

    /// Offloads reads by `offload` while they wait for a slow disk or for another program's lock; others run on the calling
    /// thread. `offload` runs its argument, and keeps no other task of its thread waiting. On Tokio's multi-threaded runtime that
    /// is `|read| tokio::task::block_in_place(read)`. Without it, all of a thread's tasks wait with its read: up to a second for
    /// a lock. The first call counts, for all clones.
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
        change: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let storage = self.clone();
        on_own_thread(move || {
            let transaction = storage.begin_update()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        })
        .await
    }

    /// What writes to a database that is there, perhaps long after this was opened.
    fn begin_update(&self) -> Result<WriteTransaction, StorageError> {
        self.readers.close_replaced()?;
        WriteTransaction::begin(self.readers.database().open_updater()?, self.write_timeout)
    }

    /// Begins what writes, for administration.
    pub(crate) fn begin(&self, patience: Duration) -> Result<WriteTransaction, StorageError> {
        WriteTransaction::begin(self.readers.database().open_writer()?, patience)
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
