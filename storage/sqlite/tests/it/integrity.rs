//! The quick check of a database file.

use std::fs;
use std::time::Duration;

use catalogue_sqlite::{Integrity, OpenError, SqliteStorage};
use rusqlite::Connection;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn quick_check_finds_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalogue.db");
    assert!(matches!(SqliteStorage::quick_check(&path, HOUR), Err(OpenError::Missing(_))));
    SqliteStorage::migrate(&path).unwrap();
    assert_eq!(SqliteStorage::quick_check(&path, HOUR).unwrap(), Integrity::Ok);

    let rows = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
                INSERT INTO accounts (id, name, email) SELECT 'account ' || i, 'A name', '' FROM n";
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(rows).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    assert_eq!(SqliteStorage::quick_check(&path, HOUR).unwrap(), Integrity::Ok);
    assert_eq!(SqliteStorage::quick_check(&path, Duration::ZERO).unwrap(), Integrity::TimedOut);

    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..half + 64 * 1024].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let found = SqliteStorage::quick_check(&path, HOUR).unwrap();
    assert!(matches!(found, Integrity::Damaged(_)), "{found:?}");
}
