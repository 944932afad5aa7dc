//! Recording the last use of credentials, which changes nothing else in the database.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::storage::KeyStorage;
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;

use crate::{Sqlite, database_in, import_one_course, key_of};

/// Creates a key, and returns a use of it.
async fn key_use(storage: &SqliteStorage) -> CredentialUse {
    let account = import_one_course(storage).await;
    key_of(storage, &account).await;
    let keys = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
    let credential_id = keys[0].identity.credential_id.clone();
    CredentialUse { account, credential_id, at: Timestamp::from_microseconds(11).unwrap() }
}

#[tokio::test]
async fn recording_uses_keeps_journal_mode_and_creates_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    // Drop the storage: an open connection would keep the database in WAL mode.
    let used = [key_use(&SqliteStorage::open_and_migrate(&path).unwrap()).await];
    let storage = SqliteStorage::open(&path).unwrap();

    // The host may have a reason to leave WAL mode.
    let host = Connection::open(&path).unwrap();
    let mode =
        |host: &Connection| host.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0)).unwrap();
    host.pragma_update(None, "journal_mode", "delete").unwrap();
    storage.record_uses(&used).await.unwrap();
    assert_eq!(mode(&host), "delete");
    drop(host);

    std::fs::remove_file(&path).unwrap();
    storage.record_uses(&used).await.unwrap_err();
    assert!(!path.exists());
}

#[tokio::test]
async fn known_uses_commit_nothing() {
    let database = Sqlite::new().await;
    let (storage, host) = (&database.storage, database.host());
    let used = [key_use(storage).await];
    // The value changes when another connection commits.
    let version = || host.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).unwrap();
    let before = version();
    storage.record_uses(&used).await.unwrap();
    let recorded = version();
    assert_ne!(recorded, before);
    storage.record_uses(&used).await.unwrap();
    assert_eq!(version(), recorded);
}
