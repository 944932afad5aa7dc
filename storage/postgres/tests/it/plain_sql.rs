//! Changes by the host application's plain SQL: triggers maintain the revision and the module count.

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage, PageRequest, Revision};
use catalogue_postgres::PostgresStorage;
use tokio_postgres::Client;

use crate::schema::Schema;
use crate::{import_one_course, items, key_of};

/// A storage with one course, and a separate connection of the host application to its database.
struct Host {
    schema: Schema,
    storage: PostgresStorage,
    account: AccountId,
    sql: Client,
}

impl Host {
    async fn new() -> Option<Self> {
        let schema = Schema::new().await?;
        let storage = schema.storage().await;
        let account = import_one_course(&storage).await;
        let sql = schema.host().await;
        Some(Self { schema, storage, account, sql })
    }

    async fn revision(&self) -> Revision {
        revision(&self.storage, &self.account).await
    }

    async fn count(&self, table: &str) -> i64 {
        self.sql.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0)
    }

    async fn module_count(&self) -> u32 {
        let items = items(&self.storage, &self.account, &PageRequest::default()).await.unwrap();
        items[0].module_count
    }
}

async fn revision(storage: &PostgresStorage, account: &AccountId) -> Revision {
    storage.revision(account).await.unwrap().expect("the account has a revision")
}

#[tokio::test]
async fn every_change_replaces_the_revision() {
    let Some(host) = Host::new().await else { return };
    let mut seen_revisions = vec![host.revision().await];
    for change in [
        "UPDATE courses SET title = 'Other'",
        "UPDATE courses SET hidden = TRUE",
        "UPDATE courses SET created_at = created_at + 1",
        "UPDATE courses SET slug = 'renamed'",
        "UPDATE modules SET title = 'Other' WHERE number = 1",
        "UPDATE modules SET summary = 'Other' WHERE number = 2",
        "UPDATE module_contents SET content = 'Other' WHERE number = 2",
        "DELETE FROM module_contents WHERE number = 2",
        "INSERT INTO module_contents VALUES ('acc', 'renamed', 2, 'New')",
        "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Three')",
        "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Drei') \
         ON CONFLICT (account_id, course_slug, number) DO UPDATE SET title = excluded.title",
        "DELETE FROM modules WHERE number = 3",
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'new', 'New', 'en')",
        "WITH gone AS (DELETE FROM courses WHERE slug = 'new' RETURNING slug) SELECT slug FROM gone",
        "TRUNCATE module_contents",
        "TRUNCATE modules",
        "TRUNCATE courses",
    ] {
        host.sql.batch_execute(change).await.unwrap();
        let now = host.revision().await;
        assert!(!seen_revisions.contains(&now), "{change}");
        seen_revisions.push(now);
    }
}

#[tokio::test]
async fn rolled_back_change_keeps_revision() {
    let Some(host) = Host::new().await else { return };
    let before = host.revision().await;
    host.sql.batch_execute("BEGIN; UPDATE courses SET title = 'Other'; ROLLBACK;").await.unwrap();
    assert_eq!(host.revision().await, before);
    host.sql
        .batch_execute("BEGIN; SAVEPOINT s; UPDATE courses SET title = 'Other'; ROLLBACK TO s; COMMIT;")
        .await
        .unwrap();
    assert_eq!(host.revision().await, before);
}

#[tokio::test]
async fn change_of_other_account_keeps_revision() {
    let Some(host) = Host::new().await else { return };
    let before = host.revision().await;
    let change = "INSERT INTO accounts (id) VALUES ('other'); \
                  INSERT INTO courses (account_id, created_at, slug, title, language) \
                  SELECT 'other', n, 'c' || n, 'New', 'en' FROM generate_series(1, 1000) AS n; \
                  UPDATE courses SET title = 'Other' WHERE account_id = 'other'";
    host.sql.batch_execute(change).await.unwrap();
    assert_eq!(host.revision().await, before);
}

#[tokio::test]
async fn moved_course_replaces_both_revisions() {
    let Some(host) = Host::new().await else { return };
    host.sql.batch_execute("INSERT INTO accounts (id) VALUES ('other')").await.unwrap();
    let other = AccountId::new("other");
    let before = (host.revision().await, revision(&host.storage, &other).await);
    host.sql.batch_execute("UPDATE courses SET account_id = 'other'").await.unwrap();
    assert_ne!(host.revision().await, before.0);
    assert_ne!(revision(&host.storage, &other).await, before.1);
    let moved = host.storage.find_course(&other, "course").await.unwrap().value.unwrap();
    assert_eq!(moved.modules.len(), 2);
    assert_eq!(host.storage.find_course(&host.account, "course").await.unwrap().value, None);
    let contents = "module_contents WHERE account_id = 'other' AND course_slug = 'course'";
    assert_eq!(host.count(contents).await, 2);
}

#[tokio::test]
async fn module_count_follows_every_change() {
    let Some(host) = Host::new().await else { return };
    for (change, count) in [
        ("INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', 3, 'Three')", 3),
        ("UPDATE courses SET slug = 'renamed'", 3),
        ("UPDATE modules SET number = 9 WHERE number = 3", 3),
        ("DELETE FROM modules WHERE number = 9", 2),
        ("UPDATE modules SET course_slug = 'elsewhere' WHERE number = 1", 1),
        ("DELETE FROM modules", 0),
        (
            "INSERT INTO modules (account_id, course_slug, number, title) \
             SELECT 'acc', 'renamed', n, 'Many' FROM generate_series(1, 500) AS n",
            500,
        ),
        ("TRUNCATE modules", 0),
    ] {
        host.sql.batch_execute(change).await.unwrap();
        assert_eq!(host.module_count().await, count, "{change}");
    }
}

#[tokio::test]
async fn modules_inserted_before_course_are_counted() {
    let Some(host) = Host::new().await else { return };
    let change = "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'late', 1, 'One'); \
                  INSERT INTO courses (account_id, created_at, slug, title, language, module_count) \
                  VALUES ('acc', 9000000000000000, 'late', 'Late', 'en', 7)";
    host.sql.batch_execute(change).await.unwrap();
    assert_eq!(host.module_count().await, 1);
}

#[tokio::test]
async fn modules_of_concurrent_transactions_are_all_counted() {
    let Some(host) = Host::new().await else { return };
    let add = |number| {
        format!(
            "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', {number}, 'New')"
        )
    };
    let other = host.schema.host().await;
    host.sql.batch_execute(&format!("BEGIN; {}", add(3))).await.unwrap();
    let waits = tokio::spawn(async move { other.batch_execute(&add(4)).await });
    // Wait until the other transaction waits for this one.
    let waiting = "pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')";
    while host.count(waiting).await == 0 {
        tokio::task::yield_now().await;
    }
    host.sql.batch_execute("COMMIT").await.unwrap();
    waits.await.unwrap().unwrap();
    assert_eq!(host.module_count().await, 4);
}

#[tokio::test]
async fn deleting_course_removes_modules() {
    let Some(host) = Host::new().await else { return };
    host.sql.batch_execute("DELETE FROM courses").await.unwrap();
    for table in ["modules", "module_contents"] {
        assert_eq!(host.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn consecutive_renames_keep_modules() {
    let Some(host) = Host::new().await else { return };
    let add = "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'd', 'D', 'en'); \
               INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'd', 1, 'Of d')";
    host.sql.batch_execute(add).await.unwrap();
    for rename in [
        "UPDATE courses SET slug = 'free' WHERE slug = 'd'",
        "UPDATE courses SET slug = 'd' WHERE slug = 'free'",
        "UPDATE courses SET slug = 'x' || slug",
    ] {
        host.sql.batch_execute(rename).await.unwrap();
        assert_eq!((host.count("modules").await, host.count("module_contents").await), (3, 2), "{rename}");
    }
    let course = host.storage.find_course(&host.account, "xd").await.unwrap().value.unwrap();
    assert_eq!(course.modules[0].title, "Of d");
}

#[tokio::test]
async fn unreadable_values_are_rejected() {
    let Some(host) = Host::new().await else { return };
    for sql in [
        "UPDATE courses SET created_at = 1700000000000000000",
        "UPDATE courses SET published_at = 1700000000000000000",
        "UPDATE courses SET slug = ''",
        "UPDATE courses SET slug = 'a/b'",
        "UPDATE courses SET slug = repeat('é', 101)",
        "UPDATE accounts SET id = 'other'",
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('absent', 1, 'c', 'C', 'en')",
    ] {
        assert!(host.sql.batch_execute(sql).await.is_err(), "{sql}");
    }
}

#[tokio::test]
async fn deleting_account_removes_all_its_rows() {
    let Some(host) = Host::new().await else { return };
    key_of(&host.storage, &host.account).await;
    host.sql.batch_execute("DELETE FROM accounts").await.unwrap();
    for table in ["courses", "modules", "module_contents", "credentials"] {
        assert_eq!(host.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn triggers_work_with_any_search_path() {
    let Some(host) = Host::new().await else { return };
    let before = host.revision().await;
    let name: String = host.sql.query_one("SELECT CAST(current_schema() AS TEXT)", &[]).await.unwrap().get(0);
    let change = format!("SET search_path = pg_catalog; DELETE FROM {name}.modules WHERE number = 2");
    host.sql.batch_execute(&change).await.unwrap();
    assert_ne!(host.revision().await, before);
    assert_eq!(host.module_count().await, 1);
}
