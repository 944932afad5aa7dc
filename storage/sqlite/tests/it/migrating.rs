//! A database that an older version has made keeps its data.

use std::path::Path;

use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, CredentialStorage, KeyStorage, SignInStorage};
use catalogue_core::{AccountId, Timestamp};
use catalogue_sqlite::{OpenError, SqliteStorage};
use rusqlite::Connection;

use crate::{database_in, import_one_course};

/// What version 1 was released as.
const VERSION_1: &str = include_str!("../../migrations/0001_initial.sql");
/// What versions 2 to 4 have added.
const UP_TO_VERSION_4: [&str; 3] = [
    include_str!("../../migrations/0002_last_use.sql"),
    include_str!("../../migrations/0003_successors.sql"),
    include_str!("../../migrations/0004_trigger_search_path.sql"),
];

/// What version 5 has added.
const VERSION_5: &str = include_str!("../../migrations/0005_settings.sql");

/// A database of version 1 with an account, a course and two credentials.
pub(crate) fn make_version_1(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = wal").unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    connection
        .execute_batch(
            "INSERT INTO accounts (id, name) VALUES ('acc', 'Name');
             INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 5, 'old', 'Old', 'en');
             INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'old', 1, 'One');
             INSERT INTO module_contents VALUES ('acc', 'old', 1, 'a body');
             INSERT INTO credentials (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at)
             VALUES (zeroblob(32), 'acc', 'key_1', 'api-key', 'n', 'ccat_abc', 'read:courses', 7, 9);
             INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at)
             VALUES (randomblob(32), 'acc', 'oauth:1', 'oauth', 'read:courses', 8);
             PRAGMA application_id = 0x63636174;
             PRAGMA user_version = 1;",
        )
        .unwrap();
}

/// All rows of the tables that version 1 has, as texts.
fn rows(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut rows = Vec::new();
    for select in [
        "SELECT id, name, email, hex(revision) FROM accounts ORDER BY 1",
        "SELECT account_id, created_at, slug, title, tagline, language, module_count FROM courses ORDER BY 1, 3",
        "SELECT account_id, course_slug, number, title, summary FROM modules ORDER BY 1, 2, 3",
        "SELECT account_id, course_slug, number, content FROM module_contents ORDER BY 1, 2, 3",
        "SELECT id, hex(digest), account_id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at \
         FROM credentials ORDER BY 1",
    ] {
        let mut statement = connection.prepare(select).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| {
            let values: rusqlite::Result<Vec<_>> = (0..columns).map(|column| row.get(column)).collect();
            Ok(format!("{:?}", values? as Vec<rusqlite::types::Value>))
        });
        rows.extend(found.unwrap().map(Result::unwrap));
    }
    rows
}

#[tokio::test]
async fn version_1_is_brought_up_to_date_with_its_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    make_version_1(&path);
    let before = rows(&path);
    assert_eq!(before.len(), 6, "{before:?}");

    let refused = SqliteStorage::open(&path).unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 1, known: 7, .. }), "{refused}");
    assert_eq!(rows(&path), before);

    let migrated = SqliteStorage::migrate(&path).unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 7));
    assert_eq!(rows(&path), before);

    let storage = SqliteStorage::open(&path).unwrap();
    assert!(storage.find_credential(&TokenDigest::from_bytes([0; 32])).await.unwrap().is_some());
    let account = AccountId::new("acc");
    let at = Timestamp::from_microseconds(11).unwrap();
    let used = CredentialUse { account: account.clone(), credential_id: "key_1".into(), at };
    storage.note_uses(&[used]).await.unwrap();
    let listed = storage.list_keys(&account).await.unwrap().unwrap();
    assert_eq!(listed.iter().map(|record| record.last_used_at).collect::<Vec<_>>(), [Some(at), None]);
    import_one_course(&storage).await;
}

/// A server of version 4 has the database open while a newer program brings it to the newest version.
#[tokio::test]
async fn version_4_is_brought_up_to_date_beside_a_server_that_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    make_version_1(&path);
    let server = Connection::open(&path).unwrap();
    UP_TO_VERSION_4.iter().for_each(|migration| server.execute_batch(migration).unwrap());
    server.execute_batch("UPDATE credentials SET last_used_at = 8; PRAGMA user_version = 4").unwrap();
    let before = rows(&path);
    // Statements that it has prepared, and that name all columns of its schema.
    let mut find = server
        .prepare(
            "SELECT c.id, c.last_used_at, c.replaced_by, a.revision FROM credentials AS c \
             JOIN accounts AS a ON a.id = c.account_id WHERE c.digest = zeroblob(32)",
        )
        .unwrap();
    let mut note_use = server.prepare("UPDATE credentials SET last_used_at = ?1 WHERE account_id = 'acc'").unwrap();
    note_use.execute([9]).unwrap();

    let migrated = SqliteStorage::migrate(&path).unwrap();
    assert_eq!((migrated.from, migrated.to), (4, 7));
    assert_eq!(rows(&path), before);
    assert_eq!(find.query_row([], |row| row.get::<_, i64>(1)), Ok(9));
    assert_eq!(note_use.execute([11]), Ok(2));

    let storage = SqliteStorage::open(&path).unwrap();
    let account = AccountId::new("acc");
    let at = Timestamp::from_microseconds(12).unwrap();
    let revoked = storage.revoke_key(&account, "key_1", at, &Actor::OPERATOR).await.unwrap().unwrap();
    assert_eq!(revoked.last_used_at, Timestamp::from_microseconds(11));
    assert_eq!(storage.list_events(&account, 9).await.unwrap().len(), 1);
    // The older one does not know of events; they go with an account that it removes.
    server.execute("DELETE FROM accounts", []).unwrap();
    assert!(storage.list_events(&account, 9).await.unwrap().is_empty());
}

/// Also one with links and events, beside a server that knows nothing of revoked tokens.
#[tokio::test]
async fn version_5_is_brought_up_to_date_with_its_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    make_version_1(&path);
    let server = Connection::open(&path).unwrap();
    UP_TO_VERSION_4.iter().for_each(|migration| server.execute_batch(migration).unwrap());
    server.execute_batch(VERSION_5).unwrap();
    server
        .execute_batch(
            "INSERT INTO sign_ins VALUES (zeroblob(32), 'acc', 'session', 1, 9);
             INSERT INTO credential_events VALUES ('acc', 'evt_1', 3, 'key_created', 'owner', 'key_1', 'n');
             PRAGMA user_version = 5",
        )
        .unwrap();
    let before = rows(&path);
    let migrated = SqliteStorage::migrate(&path).unwrap();
    assert_eq!((migrated.from, migrated.to), (5, 7));
    assert_eq!(rows(&path), before);

    let storage = SqliteStorage::open(&path).unwrap();
    let (account, digest) = (AccountId::new("acc"), TokenDigest::from_bytes([0; 32]));
    assert_eq!(storage.find_session(&digest).await.unwrap().unwrap().account.id, account);
    assert_eq!(storage.list_events(&account, 9).await.unwrap().len(), 1);
    assert_eq!(storage.is_revoked(&digest).await.unwrap(), Some(false));
    storage.revoke_tokens(&[digest], Timestamp::MAX, Timestamp::MIN).await.unwrap();
    server.execute("DELETE FROM accounts", []).unwrap();
    assert_eq!(storage.is_revoked(&digest).await.unwrap(), Some(true));
}

#[tokio::test]
async fn uses_are_noted_in_a_database_that_is_there_and_change_nothing_else_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    make_version_1(&path);
    SqliteStorage::migrate(&path).unwrap();
    let storage = SqliteStorage::open(&path).unwrap();
    let at = Timestamp::from_microseconds(11).unwrap();
    let used = [CredentialUse { account: AccountId::new("acc"), credential_id: "key_1".into(), at }];

    // Whoever has left the WAL has a reason.
    let host = Connection::open(&path).unwrap();
    let mode =
        |host: &Connection| host.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0)).unwrap();
    host.pragma_update(None, "journal_mode", "delete").unwrap();
    storage.note_uses(&used).await.unwrap();
    assert_eq!(mode(&host), "delete");
    drop(host);

    std::fs::remove_file(&path).unwrap();
    storage.note_uses(&used).await.unwrap_err();
    assert!(!path.exists());
}

#[tokio::test]
async fn uses_that_are_known_commit_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    make_version_1(&path);
    let storage = SqliteStorage::open_and_migrate(&path).unwrap();
    let host = Connection::open(&path).unwrap();
    // It changes when another connection commits.
    let version = || host.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0)).unwrap();
    let at = Timestamp::from_microseconds(11).unwrap();
    let used = [CredentialUse { account: AccountId::new("acc"), credential_id: "key_1".into(), at }];
    let before = version();
    storage.note_uses(&used).await.unwrap();
    let noted = version();
    assert_ne!(noted, before);
    storage.note_uses(&used).await.unwrap();
    assert_eq!(version(), noted);
}
