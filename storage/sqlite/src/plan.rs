//! How SQLite would run a statement, for tests.

use crate::storage::SqliteStorage;

/// What SQLite says it would do, a step a line.
pub(crate) fn plan(sql: &str) -> Vec<String> {
    let storage = SqliteStorage::in_memory().unwrap();
    steps(&storage.readers.database().open_reader().unwrap(), sql)
}

/// The same on a database.
pub(crate) fn steps(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let nothing = vec![rusqlite::types::Null; statement.parameter_count()];
    let steps = statement.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    steps.collect::<rusqlite::Result<_>>().unwrap()
}
