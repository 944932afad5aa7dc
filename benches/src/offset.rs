//! [`OffsetReader`]: pages by `OFFSET`, each slower than the page before, for comparison.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result, params};

const PAGE: &str = "SELECT slug, title, language, published_at, created_at, hidden, module_count FROM courses \
     WHERE account_id = ?1 ORDER BY created_at DESC, slug DESC LIMIT ?2 OFFSET ?3";

/// A course of a list: slug, title, language, times of publication and creation, whether hidden, number of modules.
type Item = (String, String, String, Option<i64>, i64, bool, u32);

/// Reads pages by LIMIT and OFFSET in plain SQL: the same columns in the same order from the same file as the storage.
#[derive(Debug)]
pub struct OffsetReader(Connection);

impl OffsetReader {
    /// Opens the database at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self(connection))
    }

    /// Returns the `limit` courses after the newest `depth`, and one more if the list continues.
    pub fn page(&self, account: &str, limit: usize, depth: usize) -> Result<Vec<Item>> {
        let mut statement = self.0.prepare_cached(PAGE)?;
        let rows = statement.query_map(params![account, limit as i64 + 1, depth as i64], |row| row.try_into())?;
        rows.collect()
    }
}
