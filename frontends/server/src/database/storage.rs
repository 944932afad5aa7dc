//! [`Storage`]: an opened database of either kind.

use std::time::Duration;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CourseViews, CredentialStorage, KeyStorage, SignInStorage, StorageError};
use catalogue_core::{Catalogue, CatalogueBuilder, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_settings::{DeveloperSettings, SettingsBuilder, SignInSettings};
use catalogue_sqlite::SqliteStorage;

const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// An opened database. Cheap to clone; clones share its connections.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// An SQLite database.
    Sqlite(SqliteStorage),
    /// A PostgreSQL database.
    Postgres(PostgresStorage),
}

/// Evaluates an expression with the storage of either variant.
macro_rules! dispatch {
    ($storage:expr, $either:ident => $what:expr) => {
        match $storage {
            Storage::Sqlite($either) => $what,
            Storage::Postgres($either) => $what,
        }
    };
}

impl Storage {
    /// Returns the storage for commands, which read and write the data of all accounts.
    pub(crate) fn admin(&self) -> &dyn AdminStorage {
        dispatch!(self, storage => storage)
    }

    /// Like [`Self::admin`], but owned.
    pub(crate) fn into_admin(self) -> Box<dyn AdminStorage> {
        dispatch!(self, storage => Box::new(storage))
    }

    /// Sets a write timeout of a minute, so that a leaked key is revoked even while another program writes.
    pub(crate) fn with_long_write_timeout(self) -> Self {
        match self {
            Self::Sqlite(storage) => Self::Sqlite(storage.write_timeout(WRITE_TIMEOUT)),
            Self::Postgres(storage) => Self::Postgres(storage.write_timeout(WRITE_TIMEOUT)),
        }
    }

    /// Prepares for a multi-threaded runtime: reads that wait for the disk or a lock are offloaded.
    pub(crate) fn for_serving(self) -> Self {
        match self {
            Self::Sqlite(storage) => Self::Sqlite(storage.offload_reads(|read| tokio::task::block_in_place(read))),
            postgres => postgres,
        }
    }

    /// Returns the storage of keys and of their event log.
    pub(crate) fn keys(&self) -> &dyn KeyStorage {
        dispatch!(self, storage => storage)
    }

    /// Returns the storage of sign-in links and sessions.
    pub(crate) fn sign_ins(&self) -> &dyn SignInStorage {
        dispatch!(self, storage => storage)
    }

    /// Returns the checks of the views if courses are read from views over another program's tables.
    pub(crate) fn views(&self) -> Option<&dyn CourseViews> {
        dispatch!(self, storage => storage.views())
    }

    /// Returns the storage in which requests look up their tokens.
    pub(crate) fn credentials(&self) -> &dyn CredentialStorage {
        dispatch!(self, storage => storage)
    }

    /// Returns the storage from which requests read courses.
    pub(crate) fn courses(&self) -> &dyn CourseStorage {
        dispatch!(self, storage => storage)
    }

    /// Returns the time of the database's clock, or `None` if it has no clock.
    pub(crate) async fn clock(&self) -> Option<Result<Timestamp, StorageError>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(storage) => Some(storage.clock().await),
        }
    }

    /// Starts building the API over this storage.
    pub(crate) fn catalogue(self) -> CatalogueBuilder {
        dispatch!(self, storage => Catalogue::with_api_keys(storage))
    }

    /// Starts building the developer settings over this storage.
    pub(crate) fn developer_settings(&self) -> SettingsBuilder {
        dispatch!(self, storage => DeveloperSettings::builder(storage.clone()))
    }

    /// Adds built-in sign-in to `settings`, with links and sessions in this storage.
    pub(crate) fn with_sign_in(&self, settings: &DeveloperSettings) -> SignInSettings {
        dispatch!(self, storage => settings.with_sign_in(storage.clone()))
    }
}
