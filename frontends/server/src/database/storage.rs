//! [`Storage`]: an opened database of either kind.

use std::time::Duration;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CourseViews, CredentialStorage, KeyStorage, SignInStorage, StorageError};
use catalogue_core::{Catalogue, CatalogueBuilder, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_settings::{DeveloperSettings, SettingsBuilder, SignInSettings};
use catalogue_sqlite::SqliteStorage;

const PATIENCE: Duration = Duration::from_secs(60);

/// An opened database. Cheap to clone; clones share its connections.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// One of SQLite.
    Sqlite(SqliteStorage),
    /// One of PostgreSQL.
    Postgres(PostgresStorage),
}

/// The same of either kind.
macro_rules! of_either {
    ($storage:expr, $either:ident => $what:expr) => {
        match $storage {
            Storage::Sqlite($either) => $what,
            Storage::Postgres($either) => $what,
        }
    };
}

impl Storage {
    /// For commands that write or read everything.
    pub(crate) fn admin(&self) -> &dyn AdminStorage {
        of_either!(self, storage => storage)
    }

    /// The same, to keep.
    pub(crate) fn into_admin(self) -> Box<dyn AdminStorage> {
        of_either!(self, storage => Box::new(storage))
    }

    /// The same, which waits up to a minute for another program that writes: a leaked key is revoked all the same.
    pub(crate) fn patient(self) -> Self {
        match self {
            Self::Sqlite(storage) => Self::Sqlite(storage.write_timeout(PATIENCE)),
            Self::Postgres(storage) => Self::Postgres(storage.write_timeout(PATIENCE)),
        }
    }

    /// The same for a runtime of several threads: what waits for the disk or a lock keeps none of them.
    pub(crate) fn served(self) -> Self {
        match self {
            Self::Sqlite(storage) => Self::Sqlite(storage.offload_reads(|read| tokio::task::block_in_place(read))),
            postgres => postgres,
        }
    }

    /// For changes to keys, and the log of them.
    pub(crate) fn keys(&self) -> &dyn KeyStorage {
        of_either!(self, storage => storage)
    }

    /// For links and sessions.
    pub(crate) fn sign_ins(&self) -> &dyn SignInStorage {
        of_either!(self, storage => storage)
    }

    /// Where courses are read from views over another program's tables: what looks at these.
    pub(crate) fn views(&self) -> Option<&dyn CourseViews> {
        of_either!(self, storage => storage.views())
    }

    /// For what requests look up of their tokens.
    pub(crate) fn credentials(&self) -> &dyn CredentialStorage {
        of_either!(self, storage => storage)
    }

    /// For what requests read.
    pub(crate) fn courses(&self) -> &dyn CourseStorage {
        of_either!(self, storage => storage)
    }

    /// The time by the database's own clock, where it has one.
    pub(crate) async fn clock(&self) -> Option<Result<Timestamp, StorageError>> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(storage) => Some(storage.clock().await),
        }
    }

    /// The API over it.
    pub(crate) fn catalogue(self) -> CatalogueBuilder {
        of_either!(self, storage => Catalogue::with_api_keys(storage))
    }

    /// The developer settings over it.
    pub(crate) fn developer_settings(&self) -> SettingsBuilder {
        of_either!(self, storage => DeveloperSettings::builder(storage.clone()))
    }

    /// The same with its links and sessions.
    pub(crate) fn with_sign_in(&self, settings: &DeveloperSettings) -> SignInSettings {
        of_either!(self, storage => settings.with_sign_in(storage.clone()))
    }
}
