//! Bringing a schema up to date: numbered SQL files, applied in order in one transaction.

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::{APPLICATION_ID, Database, version_of};
use crate::error::storage_error;
use crate::open_error::OpenError;
use crate::write::WriteTransaction;

/// The migrations in order; the first makes version 1.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_initial.sql")];

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
    migrate_by(&MIGRATIONS, database)
}

/// Applies what `database` lacks of `migrations`.
fn migrate_by(migrations: &[&str], database: &Database) -> Result<Migrated, OpenError> {
    let known = migrations.len() as u32;
    let found = match database.inspect() {
        Err(OpenError::Missing(_)) => 0,
        found => found?,
    };
    if found > known {
        return Err(OpenError::NewerSchema { path: database.path(), found, known });
    }
    if found == known {
        return Ok(Migrated { from: found, to: found });
    }
    let from = apply(migrations, database.open_writer()?).map_err(|error| database.failed(error))?;
    let from = from.ok_or_else(|| OpenError::Foreign(database.path()))?;
    Ok(Migrated { from, to: known })
}

/// Applies what is missing by the version under the lock: another process may have been faster. `None` where that has made
/// the database its own.
fn apply(migrations: &[&str], connection: Connection) -> Result<Option<u32>, StorageError> {
    let transaction = WriteTransaction::begin(connection)?;
    let Some(found) = version_of(&transaction).map_err(storage_error)? else { return Ok(None) };
    write(migrations, &transaction, found).map_err(storage_error)?;
    transaction.commit()?;
    Ok(Some(found))
}

fn write(migrations: &[&str], transaction: &WriteTransaction, found: u32) -> rusqlite::Result<()> {
    for migration in migrations.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", found.max(migrations.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStorage;

    /// No migration follows version 1 yet.
    #[test]
    fn second_migration_is_applied_once_to_a_database_of_version_1_and_keeps_its_data() {
        let migrations = [MIGRATIONS[0], "ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT 'none'"];
        let directory = tempfile::tempdir().unwrap();
        let database = Database::File(directory.path().join("catalogue.db"));
        SqliteStorage::migrate(database.path()).unwrap();
        let host = Connection::open(database.path()).unwrap();
        host.execute_batch("INSERT INTO accounts (id, name) VALUES ('acc', 'Name')").unwrap();

        for from in [1, 2] {
            assert_eq!(migrate_by(&migrations, &database).unwrap(), Migrated { from, to: 2 });
        }
        let row = "SELECT name || ' ' || nickname FROM accounts WHERE id = 'acc'";
        assert_eq!(host.query_row(row, [], |row| row.get::<_, String>(0)).unwrap(), "Name none");
        for refused in [SqliteStorage::open(database.path()).map(|_| ()), migrate(&database).map(|_| ())] {
            assert!(matches!(refused, Err(OpenError::NewerSchema { found: 2, known: 1, .. })), "{refused:?}");
        }
        assert_eq!(migrate_by(&migrations, &Database::File(directory.path().join("new.db"))).unwrap().from, 0);
    }
}
