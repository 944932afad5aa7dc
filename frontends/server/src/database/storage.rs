//! [`Storage`]: an opened database of either kind.

use catalogue_core::admin::AdminStorage;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{CredentialStorage as _, StorageError};
use catalogue_core::{Catalogue, CatalogueBuilder, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_sqlite::SqliteStorage;

use crate::admin::Probe;

/// An opened database. Cheap to clone; clones share its connections.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// One of SQLite.
    Sqlite(SqliteStorage),
    /// One of PostgreSQL.
    Postgres(PostgresStorage),
}

impl Storage {
    /// For commands that write or read everything.
    pub(crate) fn admin(&self) -> &dyn AdminStorage {
        match self {
            Self::Sqlite(storage) => storage,
            Self::Postgres(storage) => storage,
        }
    }

    /// The same, to keep.
    pub(crate) fn into_admin(self) -> Box<dyn AdminStorage> {
        match self {
            Self::Sqlite(storage) => Box::new(storage),
            Self::Postgres(storage) => Box::new(storage),
        }
    }

    /// The credential whose token has that digest, as requests look it up.
    pub(crate) async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        match self {
            Self::Sqlite(storage) => storage.find_credential(digest).await,
            Self::Postgres(storage) => storage.find_credential(digest).await,
        }
    }

    /// What asks it whether it answers.
    pub(crate) fn probe(&self) -> Probe {
        match self {
            Self::Sqlite(storage) => Probe::new(storage.clone()),
            Self::Postgres(storage) => Probe::new(storage.clone()),
        }
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
        match self {
            Self::Sqlite(storage) => Catalogue::with_api_keys(storage),
            Self::Postgres(storage) => Catalogue::with_api_keys(storage),
        }
    }
}
