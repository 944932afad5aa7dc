//! How SQLite would run a statement.

use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

/// Returns the steps of SQLite's plan for a statement.
pub(crate) fn steps(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let nothing = vec![Null; statement.parameter_count()];
    statement.query_map(params_from_iter(nothing), |row| row.get(3))?.collect()
}

/// Returns the steps of SQLite's plan over the catalogue's own tables.
#[cfg(test)]
pub(crate) fn plan(sql: &str) -> Vec<String> {
    let storage = crate::storage::SqliteStorage::in_memory().unwrap();
    steps(&storage.readers.database().open_reader().unwrap(), sql).unwrap()
}
