//! Bringing a schema up to date: numbered SQL files, applied in order in one transaction.

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::{APPLICATION_ID, Database, version_of};
use crate::error::storage_error;
use crate::open_error::OpenError;
use crate::write::WriteTransaction;

/// The migrations in order; the first makes version 1.
const MIGRATIONS: [&str; 7] = [
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_last_use.sql"),
    include_str!("../migrations/0003_successors.sql"),
    include_str!("../migrations/0004_trigger_search_path.sql"),
    include_str!("../migrations/0005_settings.sql"),
    include_str!("../migrations/0006_revoked_tokens.sql"),
    include_str!("../migrations/0007_account_changes.sql"),
];

/// The schema version that this crate reads and writes.
pub(crate) const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// What [`SqliteStorage::migrate`](crate::SqliteStorage::migrate) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

/// Brings `database` to [`SCHEMA_VERSION`]; does nothing at all where it is there already.
pub(crate) fn migrate(database: &Database) -> Result<Migrated, OpenError> {
    let found = match database.inspect() {
        Err(OpenError::Missing(_)) => 0,
        found => found?,
    };
    if found > SCHEMA_VERSION {
        return Err(OpenError::NewerSchema { path: database.path(), found, known: SCHEMA_VERSION });
    }
    if found == SCHEMA_VERSION {
        return Ok(Migrated { from: found, to: found });
    }
    let from = apply(database.open_writer()?).map_err(|error| database.failed(error))?;
    let from = from.ok_or_else(|| OpenError::Foreign(database.path()))?;
    Ok(Migrated { from, to: SCHEMA_VERSION })
}

/// Applies what is missing by the version under the lock: another process may have been faster. `None` where that has made
/// the database its own.
fn apply(connection: Connection) -> Result<Option<u32>, StorageError> {
    let transaction = WriteTransaction::begin(connection)?;
    let Some(found) = version_of(&transaction).map_err(storage_error)? else { return Ok(None) };
    write(&transaction, found).map_err(storage_error)?;
    transaction.commit()?;
    Ok(Some(found))
}

fn write(transaction: &WriteTransaction, found: u32) -> rusqlite::Result<()> {
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION.max(found))
}
