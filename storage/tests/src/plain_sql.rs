//! Changes by the host application's plain SQL: triggers maintain the revision and the module count.

use catalogue_core::AccountId;
use catalogue_core::storage::{Actor, CourseStorage as _, PageRequest, Revision, SignInStorage as _};

use crate::database::{Database, import_one_course, items, key_of, link};

/// A database with one course.
struct Host<D> {
    database: D,
    account: AccountId,
}

impl<D: Database> Host<D> {
    async fn new() -> Option<Self> {
        let database = D::create().await?;
        let account = import_one_course(database.storage()).await;
        Some(Self { database, account })
    }

    async fn execute(&self, sql: &str) {
        self.database.execute(sql).await;
    }

    async fn revision(&self) -> Revision {
        self.revision_of(&self.account).await
    }

    async fn revision_of(&self, account: &AccountId) -> Revision {
        self.database.storage().revision(account).await.unwrap().expect("the account has a revision")
    }

    /// Returns the module count of the first course.
    async fn module_count(&self) -> u32 {
        items(self.database.storage(), &self.account, &PageRequest::default()).await.unwrap()[0].module_count
    }
}

/// Asserts that a change of any row replaces the revision by an unused one.
pub async fn every_change_replaces_the_revision<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let mut seen_revisions = vec![host.revision().await];
    let changes = [
        "UPDATE courses SET title = 'Other'",
        "UPDATE courses SET hidden = NOT hidden",
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
        "DELETE FROM courses WHERE slug = 'new'",
    ];
    for change in changes.iter().chain(D::REVISION_CHANGES) {
        host.execute(change).await;
        let now = host.revision().await;
        assert!(!seen_revisions.contains(&now), "{change}");
        seen_revisions.push(now);
    }
}

/// Asserts that changes that are rolled back or of another account keep the revision.
pub async fn rolled_back_or_unrelated_change_keeps_revision<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let before = host.revision().await;
    for change in [
        "BEGIN; UPDATE courses SET title = 'Other'; ROLLBACK",
        "BEGIN; SAVEPOINT s; UPDATE courses SET title = 'Other'; ROLLBACK TO s; COMMIT",
        "INSERT INTO accounts (id) VALUES ('other'); \
         INSERT INTO courses (account_id, created_at, slug, title, language) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000) \
         SELECT 'other', n, 'c' || n, 'New', 'en' FROM numbers; \
         UPDATE courses SET title = 'Other' WHERE account_id = 'other'",
    ] {
        host.execute(change).await;
        assert_eq!(host.revision().await, before, "{change}");
    }
}

/// Asserts that a course and its modules can move to another account.
pub async fn moved_course_replaces_both_revisions<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    host.execute("INSERT INTO accounts (id) VALUES ('other')").await;
    let other = AccountId::new("other");
    let before = (host.revision().await, host.revision_of(&other).await);
    host.execute("UPDATE courses SET account_id = 'other'").await;
    assert_ne!(host.revision().await, before.0);
    assert_ne!(host.revision_of(&other).await, before.1);
    let storage = host.database.storage();
    let moved = storage.find_course(&other, "course").await.unwrap().value.unwrap();
    assert_eq!(moved.modules.len(), 2);
    assert_eq!(storage.find_course(&host.account, "course").await.unwrap().value, None);
    let contents = "module_contents WHERE account_id = 'other' AND course_slug = 'course'";
    assert_eq!(host.database.count(contents).await, 2);
}

/// Asserts that the stored module count is correct after each statement.
pub async fn module_count_follows_every_change<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let changes = [
        ("INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', 3, 'Three')", 3),
        ("UPDATE courses SET slug = 'renamed'", 3),
        ("UPDATE modules SET number = 9 WHERE number = 3", 3),
        ("DELETE FROM modules WHERE number = 9", 2),
        ("UPDATE modules SET course_slug = 'elsewhere' WHERE number = 1", 1),
        ("DELETE FROM modules", 0),
    ];
    for (change, count) in changes.iter().chain(D::MODULE_CHANGES) {
        host.execute(change).await;
        assert_eq!(host.module_count().await, *count, "{change}");
    }
}

/// Asserts that an inserted course gets the number of its modules instead of the inserted count.
pub async fn modules_inserted_before_course_are_counted<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let change = "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'late', 1, 'One'); \
                  INSERT INTO courses (account_id, created_at, slug, title, language, module_count) \
                  VALUES ('acc', 9000000000000000, 'late', 'Late', 'en', 7)";
    host.execute(change).await;
    assert_eq!(host.module_count().await, 1);
}

/// Asserts that modules follow their course, even to the former slug of another one.
pub async fn consecutive_renames_keep_modules<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let add = "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'd', 'D', 'en'); \
               INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'd', 1, 'Of d')";
    host.execute(add).await;
    for rename in [
        "UPDATE courses SET slug = 'free' WHERE slug = 'd'",
        "UPDATE courses SET slug = 'd' WHERE slug = 'free'",
        "UPDATE courses SET slug = 'x' || slug",
    ] {
        host.execute(rename).await;
        let counts = (host.database.count("modules").await, host.database.count("module_contents").await);
        assert_eq!(counts, (3, 2), "{rename}");
    }
    let course = host.database.storage().find_course(&host.account, "xd").await.unwrap().value.unwrap();
    assert_eq!(course.modules[0].title, "Of d");
}

/// Asserts that plain SQL cannot store values that the storage could not read.
pub async fn unreadable_values_are_rejected<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    let long_slug = format!("UPDATE courses SET slug = '{}'", "é".repeat(101));
    let changes = [
        "UPDATE courses SET created_at = 1700000000000000000",
        "UPDATE courses SET published_at = 1700000000000000000",
        "UPDATE courses SET slug = ''",
        "UPDATE courses SET slug = 'a/b'",
        &long_slug,
        "UPDATE accounts SET id = 'other'",
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('absent', 1, 'c', 'C', 'en')",
        "INSERT INTO sign_ins SELECT digest, 'absent', 'session', 1, 2 FROM credentials",
    ];
    key_of(host.database.storage(), &host.account).await;
    for sql in changes.iter().chain(D::REFUSED_CHANGES) {
        assert!(host.database.try_execute(sql).await.is_err(), "{sql}");
    }
}

/// Asserts that plain SQL cannot change an event.
pub async fn events_are_immutable<D: Database>() {
    let Some(host) = Host::<D>::new().await else { return };
    key_of(host.database.storage(), &host.account).await;
    let change = format!("{} UPDATE credential_events SET actor = 'other'", D::HOSTILE_SETTINGS);
    let refused = host.database.try_execute(&change).await.unwrap_err();
    assert!(refused.contains("events stay as they are"), "{refused}");
}

/// Asserts that all rows of a deleted course or account are removed even if foreign keys are not enforced.
pub async fn deletion_removes_dependent_rows_without_foreign_keys<D: Database>() {
    for (table, emptied) in [
        ("courses", &["modules", "module_contents"][..]),
        ("accounts", &["courses", "modules", "module_contents", "credentials", "credential_events", "sign_ins"]),
    ] {
        let Some(host) = Host::<D>::new().await else { return };
        let storage = host.database.storage();
        key_of(storage, &host.account).await;
        storage.create_link(&link("acc", 1, 0), &Actor::OWNER).await.unwrap();
        host.execute(&format!("{} DELETE FROM {table}", D::WITHOUT_FOREIGN_KEYS)).await;
        for table in emptied {
            assert_eq!(host.database.count(table).await, 0, "{table}");
        }
    }
}
