//! [`ImportedKeys`]: the accounts and courses that an import has put.

use rusqlite::{Connection, Result};

use crate::import::execute_changed;

const TABLES: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE accounts (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE courses (
        account_id TEXT NOT NULL,
        slug       TEXT NOT NULL,
        PRIMARY KEY (account_id, slug)
    ) STRICT, WITHOUT ROWID;
    BEGIN;
";

/// Keys of the accounts and courses that an import has put, in a separate temporary database, so that memory does not grow
/// with the input. Temporary tables of the import's connection would take part in its commit, and could fail it after the
/// database itself was committed.
#[derive(Debug)]
pub(crate) struct ImportedKeys(Connection);

impl ImportedKeys {
    pub(crate) fn new() -> Result<Self> {
        let connection = Connection::open("")?;
        connection.execute_batch(TABLES)?;
        Ok(Self(connection))
    }

    /// Records an account. Returns `true` if it is new.
    pub(crate) fn insert_account(&self, id: &str) -> Result<bool> {
        execute_changed(&self.0, "INSERT OR IGNORE INTO accounts VALUES (?1)", [id])
    }

    /// Records a course, by account and slug. Returns `true` if it is new.
    pub(crate) fn insert_course(&self, key: [&str; 2]) -> Result<bool> {
        execute_changed(&self.0, "INSERT OR IGNORE INTO courses VALUES (?1, ?2)", key)
    }

    pub(crate) fn has_course(&self, key: [&str; 2]) -> Result<bool> {
        self.0.prepare_cached("SELECT 1 FROM courses WHERE account_id = ?1 AND slug = ?2")?.exists(key)
    }

    /// Calls `visit` for each account that was put.
    pub(crate) fn for_each_account(&self, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut accounts = self.0.prepare("SELECT id FROM accounts")?;
        let mut rows = accounts.query([])?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str()?)?;
        }
        Ok(())
    }
}
