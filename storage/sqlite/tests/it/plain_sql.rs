//! Changes by the host application's plain SQL: triggers maintain the revision and the module count.

use catalogue_core::AccountId;
use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, CourseStorage, KeyStorage, PageRequest, Revision};
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{database_in, fixture, import_one_course, items, key_of};

/// Returns a storage with one course, and the host application's connection to its database.
async fn with_host() -> (SqliteStorage, AccountId, Connection, TempDir) {
    let (storage, directory) = fixture().await;
    let account = import_one_course(&storage).await;
    let connection = Connection::open(database_in(&directory)).unwrap();
    (storage, account, connection, directory)
}

async fn revision(storage: &SqliteStorage, account: &AccountId) -> Revision {
    storage.revision(account).await.unwrap().expect("the account has a revision")
}

#[tokio::test]
async fn every_change_replaces_the_revision() {
    let (storage, account, host, _directory) = with_host().await;
    let mut seen_revisions = vec![revision(&storage, &account).await];
    for change in [
        "UPDATE courses SET title = 'Other'",
        "UPDATE courses SET hidden = 1",
        "UPDATE courses SET created_at = created_at + 1",
        "UPDATE courses SET slug = 'renamed'",
        "UPDATE modules SET title = 'Other' WHERE number = 1",
        "UPDATE modules SET summary = 'Other' WHERE number = 2",
        "UPDATE module_contents SET content = 'Other' WHERE number = 2",
        "DELETE FROM module_contents WHERE number = 2",
        "INSERT INTO module_contents VALUES ('acc', 'renamed', 2, 'New')",
        "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Three')",
        "INSERT OR REPLACE INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Drei')",
        "DELETE FROM modules WHERE number = 3",
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'new', 'New', 'en')",
        "DELETE FROM courses WHERE slug = 'new'",
    ] {
        assert!(host.execute(change, []).unwrap() > 0, "{change}");
        let now = revision(&storage, &account).await;
        assert!(!seen_revisions.contains(&now), "{change}");
        seen_revisions.push(now);
    }
}

#[tokio::test]
async fn events_are_immutable_and_removed_with_account() {
    let (storage, account, host, _directory) = with_host().await;
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::default());
    storage.create_key(&key, &Actor::OWNER).await.unwrap();
    let refused = host.execute("UPDATE credential_events SET actor = 'other'", []).unwrap_err();
    assert!(refused.to_string().contains("events stay as they are"), "{refused}");
    let sign_in = "INSERT INTO sign_ins VALUES (randomblob(32), 'acc', 'session', 1, 2)";
    host.execute(sign_in, []).unwrap();
    host.execute("DELETE FROM accounts", []).unwrap();
    let left = "SELECT (SELECT count(*) FROM credential_events) + (SELECT count(*) FROM sign_ins)";
    assert_eq!(host.query_row(left, [], |row| row.get::<_, i64>(0)), Ok(0));
    host.pragma_update(None, "foreign_keys", true).unwrap();
    host.execute(sign_in, []).unwrap_err();
}

#[tokio::test]
async fn rolled_back_change_keeps_revision() {
    let (storage, account, host, _directory) = with_host().await;
    let before = revision(&storage, &account).await;
    host.execute_batch("BEGIN; UPDATE courses SET title = 'Other'; ROLLBACK;").unwrap();
    assert_eq!(revision(&storage, &account).await, before);
}

#[tokio::test]
async fn moved_course_replaces_both_revisions() {
    let (storage, account, host, _directory) = with_host().await;
    host.execute("INSERT INTO accounts (id) VALUES ('other')", []).unwrap();
    let other = AccountId::new("other");
    let before = (revision(&storage, &account).await, revision(&storage, &other).await);
    host.execute("UPDATE courses SET account_id = 'other'", []).unwrap();
    assert_ne!(revision(&storage, &account).await, before.0);
    assert_ne!(revision(&storage, &other).await, before.1);
    let moved = storage.find_course(&other, "course").await.unwrap().value.unwrap();
    assert_eq!(moved.modules.len(), 2);
    assert_eq!(storage.find_course(&account, "course").await.unwrap().value, None);
}

#[tokio::test]
async fn module_count_follows_every_change() {
    let (storage, account, host, _directory) = with_host().await;
    for (change, count) in [
        ("INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', 3, 'Three')", 3),
        ("INSERT OR REPLACE INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', 3, 'x')", 3),
        ("UPDATE courses SET slug = 'renamed'", 3),
        ("UPDATE modules SET number = 9 WHERE number = 3", 3),
        ("DELETE FROM modules WHERE number = 9", 2),
        (
            "INSERT OR REPLACE INTO courses (account_id, created_at, slug, title, language) \
             VALUES ('acc', 7, 'renamed', 'Replaced', 'en')",
            2,
        ),
        ("UPDATE modules SET course_slug = 'elsewhere' WHERE number = 1", 1),
        ("DELETE FROM modules", 0),
    ] {
        host.execute(change, []).unwrap();
        let items = items(&storage, &account, &PageRequest::default()).await.unwrap();
        assert_eq!(items[0].module_count, count, "{change}");
    }
}

#[tokio::test]
async fn deleting_course_removes_modules_without_foreign_keys() {
    let (_storage, _account, host, _directory) = with_host().await;
    host.pragma_update(None, "foreign_keys", false).unwrap();
    host.execute("DELETE FROM courses", []).unwrap();
    for table in ["modules", "module_contents"] {
        let left: u32 = host.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

#[tokio::test]
async fn replacing_course_keeps_only_its_own_modules() {
    let (storage, account, host, _directory) = with_host().await;
    host.execute_batch(
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'other', 'Other', 'en');
         INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'other', 1, 'Of the other');
         UPDATE OR REPLACE courses SET slug = 'course' WHERE slug = 'other';",
    )
    .unwrap();
    let course = storage.find_course(&account, "course").await.unwrap().value.unwrap();
    let titles: Vec<_> = course.modules.iter().map(|module| &*module.title).collect();
    assert_eq!((&*course.title, titles), ("Other", vec!["Of the other"]));
}

#[tokio::test]
async fn unreadable_values_are_rejected() {
    let (_storage, _account, host, _directory) = with_host().await;
    for sql in [
        "UPDATE courses SET created_at = 1700000000000000000",
        "UPDATE courses SET published_at = 1700000000000000000",
        "UPDATE courses SET slug = ''",
        "UPDATE courses SET slug = 'a/b'",
        "UPDATE courses SET slug = replace(hex(zeroblob(101)), '00', 'é')",
        "UPDATE courses SET hidden = 2",
        "UPDATE accounts SET id = 'other'",
    ] {
        assert!(host.execute(sql, []).is_err(), "{sql}");
    }
}

#[tokio::test]
async fn deleting_account_removes_all_its_rows() {
    let (storage, account, host, _directory) = with_host().await;
    key_of(&storage, &account).await;
    host.pragma_update(None, "foreign_keys", false).unwrap();
    host.execute("DELETE FROM accounts", []).unwrap();
    for table in ["courses", "modules", "module_contents", "credentials"] {
        let left: u32 = host.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}
