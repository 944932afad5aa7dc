//! Uses of credentials are noted, and nothing else of the database changes.

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::storage::KeyStorage;
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;

use crate::{database_in, import_one_course, key_of};

/// The use of a new key.
async fn use_of_a_key(storage: &SqliteStorage) -> CredentialUse {
    let account = import_one_course(storage).await;
    key_of(storage, &account).await;
    let keys = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
    let credential_id = keys[0].identity.credential_id.clone();
    CredentialUse { account, credential_id, at: Timestamp::from_microseconds(11).unwrap() }
}

#[tokio::test]
async fn uses_are_noted_in_a_database_that_is_there_and_change_nothing_else_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    // An open connection would keep the file in the WAL.
    let used = [use_of_a_key(&SqliteStorage::open_and_migrate(&path).unwrap()).await];
    let storage = SqliteStorage::open(&path).unwrap();

    // Whoever has left the WAL has a reason.
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
async fn uses_that_are_known_commit_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    let storage = SqliteStorage::open_and_migrate(&path).unwrap();
    let used = [use_of_a_key(&storage).await];
    let host = Connection::open(&path).unwrap();
    // It changes when another connection commits.
    let version = || host.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).unwrap();
    let before = version();
    storage.record_uses(&used).await.unwrap();
    let noted = version();
    assert_ne!(noted, before);
    storage.record_uses(&used).await.unwrap();
    assert_eq!(version(), noted);
}
