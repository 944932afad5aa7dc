//! Migrates a schema: numbered SQL files, applied in order in one transaction.

use std::cmp::Ordering;

use catalogue_core::storage::StorageError;
use rusqlite::Connection;

use crate::connection::{APPLICATION_ID, BUSY_TIMEOUT, Database, KEYS_APPLICATION_ID, version_of};
use crate::error::storage_error;
use crate::open_error::OpenError;
use crate::write::WriteTransaction;

/// A schema: its application id, and its migrations in order; the first creates version 1.
pub(crate) struct Schema {
    application_id: i32,
    migrations: &'static [&'static str],
}

/// Schema with accounts, courses, credentials and sign-ins.
pub(crate) const CATALOGUE_SCHEMA: Schema =
    Schema { application_id: APPLICATION_ID, migrations: &[include_str!("../migrations/0001_initial.sql")] };

/// Schema with credentials and sign-ins only, for courses in views.
pub(crate) const KEYS_SCHEMA: Schema =
    Schema { application_id: KEYS_APPLICATION_ID, migrations: &[include_str!("../migrations/keys/0001_initial.sql")] };

/// Result of [`SqliteStorage::migrate`](crate::SqliteStorage::migrate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

impl Schema {
    /// Returns the version that this crate reads and writes.
    fn version(&self) -> u32 {
        self.migrations.len() as u32
    }

    /// Fails unless `database` has the current version.
    pub(crate) fn check(&self, database: &Database) -> Result<(), OpenError> {
        let (found, known, path) = (database.inspect(&[self.application_id])?, self.version(), database.path());
        match found.cmp(&known) {
            Ordering::Less => Err(OpenError::OlderSchema { path, found, known }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(OpenError::NewerSchema { path, found, known }),
        }
    }

    /// Migrates `database` to the current version, and creates it if missing; does nothing if it is current.
    pub(crate) fn migrate(&self, database: &Database) -> Result<Migrated, OpenError> {
        let known = self.version();
        let found = match database.inspect(&[self.application_id]) {
            Err(OpenError::Missing(_)) => 0,
            found => found?,
        };
        if found > known {
            return Err(OpenError::NewerSchema { path: database.path(), found, known });
        }
        if found == known {
            return Ok(Migrated { from: found, to: found });
        }
        let from = self.apply(database.open_writer()?).map_err(|error| database.failed(error))?;
        let from = from.ok_or_else(|| OpenError::OtherApplication(database.path()))?;
        Ok(Migrated { from, to: known })
    }

    /// Applies the missing migrations. Returns the version before; `None` if the database is another program's by now. Reads the
    /// version under the lock, since another process may have created or migrated the database in the meantime.
    fn apply(&self, connection: Connection) -> Result<Option<u32>, StorageError> {
        let transaction = WriteTransaction::begin(connection, BUSY_TIMEOUT)?;
        let found = version_of(&transaction, &[self.application_id]).map_err(storage_error)?;
        let Some(found) = found else { return Ok(None) };
        self.write(&transaction, found).map_err(storage_error)?;
        transaction.commit()?;
        Ok(Some(found))
    }

    fn write(&self, transaction: &WriteTransaction, found: u32) -> rusqlite::Result<()> {
        for migration in self.migrations.iter().skip(found as usize) {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", self.application_id)?;
        transaction.pragma_update(None, "user_version", found.max(self.version()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStorage;

    /// Adds a second migration, since none follows version 1 yet.
    #[test]
    fn second_migration_applies_once_and_keeps_data() {
        const SECOND: &str = "ALTER TABLE accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT 'none'";
        const BOTH: [&str; 2] = [CATALOGUE_SCHEMA.migrations[0], SECOND];
        let newer = Schema { migrations: &BOTH, ..CATALOGUE_SCHEMA };
        let directory = tempfile::tempdir().unwrap();
        let database = Database::File(directory.path().join("catalogue.db"));
        SqliteStorage::migrate(database.path()).unwrap();
        let host = Connection::open(database.path()).unwrap();
        host.execute_batch("INSERT INTO accounts (id, name) VALUES ('acc', 'Name')").unwrap();

        for from in [1, 2] {
            assert_eq!(newer.migrate(&database).unwrap(), Migrated { from, to: 2 });
        }
        let row = "SELECT name || ' ' || nickname FROM accounts WHERE id = 'acc'";
        assert_eq!(host.query_row(row, [], |row| row.get::<_, String>(0)).unwrap(), "Name none");
        for refused in
            [SqliteStorage::open(database.path()).map(|_| ()), CATALOGUE_SCHEMA.migrate(&database).map(|_| ())]
        {
            assert!(matches!(refused, Err(OpenError::NewerSchema { found: 2, known: 1, .. })), "{refused:?}");
        }
        assert_eq!(newer.migrate(&Database::File(directory.path().join("new.db"))).unwrap().from, 0);
    }

    /// Statements for keys run on both schemas.
    #[test]
    fn shared_tables_have_the_same_columns_in_both_schemas() {
        let [keys, whole] = [KEYS_SCHEMA, CATALOGUE_SCHEMA].map(|schema| {
            let connection = Connection::open_in_memory().unwrap();
            schema.migrations.iter().for_each(|migration| connection.execute_batch(migration).unwrap());
            connection
        });
        let columns = |connection: &Connection, table: &str| -> Vec<(String, String, bool, u32)> {
            let sql = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY name";
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
            rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
        };
        for table in ["credentials", "credential_events", "sign_ins", "revoked_tokens"] {
            let expected = columns(&whole, table);
            assert!(!expected.is_empty(), "{table}");
            assert_eq!(columns(&keys, table), expected, "{table}");
        }
    }
}
