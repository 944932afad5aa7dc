//! Revision rows, which are used only while triggers on each table behind the views write to them.

use std::collections::HashSet;

use catalogue_core::storage::{CourseStorage, Revision, ViewAdvice};
use rusqlite::Connection;

use super::host_app::{HostApp, Kind, PLAIN, REVISIONS, WITH_REVISIONS};
use super::{anna, with_two_courses};

async fn revision(host_app: &HostApp) -> Revision {
    host_app.storage.revision(&anna()).await.unwrap().unwrap()
}

async fn advice(host_app: &HostApp) -> Vec<ViewAdvice> {
    host_app.storage.views().unwrap().check_revisions().await.unwrap()
}

/// Returns whether an unrelated commit keeps the revision, as it does if the revision is a row.
async fn uses_revision_rows(host_app: &HostApp) -> bool {
    let before = revision(host_app).await;
    host_app.write("PRAGMA user_version = 7");
    host_app.write("PRAGMA user_version = 8");
    let after = revision(host_app).await;
    assert_eq!(revision(host_app).await, after, "nothing was committed");
    after == before
}

/// Creates the table again under its name, as frameworks do, which drops its triggers.
fn rebuild(writer: &Connection, table: &str, columns: &str) {
    writer
        .execute_batch(&format!(
            "PRAGMA legacy_alter_table = ON; BEGIN; CREATE TABLE new__{table} ({columns}); INSERT INTO new__{table} SELECT * FROM {table};
             DROP TABLE {table}; ALTER TABLE new__{table} RENAME TO {table}; COMMIT"
        ))
        .unwrap();
}

#[tokio::test]
async fn change_after_table_rebuild_replaces_revision() {
    for journal_mode in ["wal", "delete"] {
        let host_app = with_two_courses(Kind { journal_mode, ..WITH_REVISIONS }).await;
        assert!(uses_revision_rows(&host_app).await, "{journal_mode}");
        assert_eq!(advice(&host_app).await, [], "{journal_mode}");
        let mut seen_revisions = HashSet::from([revision(&host_app).await]);
        rebuild(&host_app.writer(), "lessons", "training INTEGER NOT NULL, place INTEGER, name TEXT, summary TEXT");
        for number in 0..3 {
            host_app.write(&format!("UPDATE lessons SET name = 'Heading {number}'"));
            let revision = host_app.storage.revision(&anna()).await.unwrap();
            assert_eq!(revision.is_some(), journal_mode == "wal", "nothing is cached without a WAL");
            assert!(revision.is_none_or(|revision| seen_revisions.insert(revision)), "{journal_mode} {number}");
        }
        let found = advice(&host_app).await;
        assert_eq!(found.len(), 1, "{found:?}");
        let ViewAdvice { subject, finding, fix } = &found[0];
        assert_eq!(subject, "catalogue_revisions");
        assert!(
            finding.contains("table `lessons` has no trigger for INSERT, UPDATE, DELETE that writes to"),
            "{finding}"
        );
        assert!(finding.contains("`states`"), "{finding}");
        assert!(fix.as_ref().unwrap().contains("create the triggers again"), "{fix:?}");
    }
}

/// While a trigger is missing, content changes without the row, whether or not the catalogue reads in the meantime.
#[tokio::test]
async fn restored_triggers_do_not_restore_revision() {
    let host_app = with_two_courses(WITH_REVISIONS).await;
    let before = revision(&host_app).await;
    let trigger: String = host_app
        .writer()
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'lesson_updated'", [], |row| row.get(0))
        .unwrap();
    for reads_without_trigger in [false, true] {
        host_app.write("DROP TRIGGER lesson_updated");
        if reads_without_trigger {
            revision(&host_app).await;
        }
        host_app.write(&format!("UPDATE lessons SET name = 'While {reads_without_trigger}'"));
        host_app.write(&trigger);
        assert_ne!(revision(&host_app).await, before, "{reads_without_trigger}");
        assert!(uses_revision_rows(&host_app).await, "{reads_without_trigger}");
    }
}

/// Recreates the view of modules, with `COLUMN` as the title.
const MODULES: &str = "DROP VIEW catalogue_modules; CREATE VIEW catalogue_modules AS SELECT p.login AS account_id,
    t.handle AS course_slug, l.place AS number, l.COLUMN AS title, '' AS summary
    FROM lessons AS l JOIN trainings AS t ON t.id = l.training JOIN owners AS p ON p.id = t.owner";

/// Each case is a change of the schema with the reported problem: empty if rows are still used, `?` if nothing is reported.
#[tokio::test]
async fn row_use_depends_on_trigger_bodies() {
    for (change, missing) in [
        ("DROP TRIGGER training_inserted", "table `trainings` has no trigger for INSERT that"),
        ("DROP TRIGGER training_updated", "table `trainings` has no trigger for UPDATE that"),
        ("DROP TRIGGER owner_deleted", "table `owners` has no trigger for DELETE that"),
        // Triggers on cascading deletes do not count, since a writer may turn foreign keys off.
        (
            "DROP TRIGGER training_deleted; ALTER TABLE lessons ADD COLUMN of_training REFERENCES trainings (id) ON DELETE CASCADE",
            "table `trainings` has no trigger for DELETE that",
        ),
        // A trigger of the same name, with another body.
        (
            "DROP TRIGGER training_updated; CREATE TRIGGER training_updated AFTER UPDATE ON trainings BEGIN SELECT 1; END",
            "table `trainings` has no trigger for UPDATE that",
        ),
        (
            "CREATE TABLE audit (a); DROP TRIGGER training_updated;
             CREATE TRIGGER training_updated AFTER UPDATE ON trainings BEGIN INSERT INTO audit VALUES (1); END",
            "table `trainings` has no trigger for UPDATE that",
        ),
        // A trigger that fires for some columns only.
        (
            "DROP TRIGGER training_updated; CREATE TRIGGER training_updated AFTER UPDATE OF name, subtitle, lang, made_at,
                 live_at, is_hidden, owner, id ON trainings BEGIN UPDATE states SET state = randomblob(16); END",
            "table `trainings` has no trigger for UPDATE OF access, handle that",
        ),
        // A trigger that writes the revision indirectly, by another trigger or a view.
        (
            "CREATE TABLE queue (a); CREATE TRIGGER queued AFTER INSERT ON queue BEGIN UPDATE states SET state = randomblob(16); END;
             DROP TRIGGER training_updated; CREATE TRIGGER other AFTER UPDATE ON trainings BEGIN INSERT INTO queue VALUES (1); END",
            "",
        ),
        (
            "CREATE VIEW changed AS SELECT 1 AS a;
             CREATE TRIGGER replaced INSTEAD OF INSERT ON changed BEGIN UPDATE states SET state = randomblob(16); END;
             DROP TRIGGER training_updated; CREATE TRIGGER other AFTER UPDATE ON trainings BEGIN INSERT INTO changed VALUES (1); END",
            "",
        ),
        // A trigger whose target table is dropped.
        (
            "CREATE TABLE gone (a); DROP TRIGGER training_updated;
             CREATE TRIGGER training_updated AFTER UPDATE ON trainings BEGIN INSERT INTO gone VALUES (1); END; DROP TABLE gone",
            "table `trainings` has no trigger for UPDATE that",
        ),
        // Another table behind the views, without or with triggers.
        (
            "CREATE TABLE extra (training); MODULES(name) WHERE NOT EXISTS (SELECT 1 FROM extra WHERE training = t.id)",
            "table `extra` has no trigger for INSERT, UPDATE, DELETE that",
        ),
        (
            "CREATE TABLE extra (a); CREATE TRIGGER a AFTER INSERT ON extra BEGIN UPDATE states SET state = randomblob(16); END;
             CREATE TRIGGER b AFTER DELETE ON extra BEGIN UPDATE states SET state = randomblob(16); END;
             MODULES(name) WHERE (SELECT count(*) FROM extra) < 9",
            "",
        ),
        // A generated column.
        ("ALTER TABLE trainings ADD COLUMN computed AS (name || 'x')", ""),
        ("ALTER TABLE lessons ADD COLUMN shown AS (name || 'x'); MODULES(shown)", ""),
        (
            "ALTER TABLE lessons ADD COLUMN shown AS (name || 'x'); MODULES(shown); DROP TRIGGER lesson_updated;
             CREATE TRIGGER lesson_updated AFTER UPDATE OF training, place, shown ON lessons BEGIN
                 UPDATE states SET state = randomblob(16); END",
            "table `lessons` has no trigger for UPDATE OF name, summary that",
        ),
        // A table that is not behind the views.
        ("CREATE TABLE other (a)", ""),
        ("DROP VIEW catalogue_revisions", "?"),
    ] {
        let host_app = with_two_courses(WITH_REVISIONS).await;
        assert!(uses_revision_rows(&host_app).await);
        let change = ["name", "shown"].into_iter().fold(change.to_owned(), |change, column| {
            change.replace(&format!("MODULES({column})"), &MODULES.replace("COLUMN", column))
        });
        host_app.write(&change);
        assert_eq!(uses_revision_rows(&host_app).await, missing.is_empty(), "{change}");
        let found = advice(&host_app).await;
        match missing {
            "" | "?" => assert_eq!(found, [], "{change}"),
            missing => assert!(found.len() == 1 && found[0].finding.contains(missing), "{change}: {found:?}"),
        }
    }
}

/// An open storage notices new triggers.
#[tokio::test]
async fn rows_are_used_once_created() {
    let host_app = with_two_courses(PLAIN).await;
    assert!(!uses_revision_rows(&host_app).await);
    assert_eq!(advice(&host_app).await, []);
    host_app.write(&format!("{REVISIONS}; INSERT INTO states SELECT id, randomblob(16) FROM owners"));
    assert!(uses_revision_rows(&host_app).await);
    host_app.write("DROP VIEW catalogue_revisions");
    assert!(!uses_revision_rows(&host_app).await);
}

/// Another file may have the same schema version, and other triggers.
#[tokio::test]
async fn triggers_of_replaced_file_are_checked() {
    let host_app = with_two_courses(WITH_REVISIONS).await;
    let copy = host_app.directory.path().join("copy.db");
    host_app.writer().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let copied = Connection::open(&copy).unwrap();
    let schema: i64 = host_app.writer().pragma_query_value(None, "schema_version", |row| row.get(0)).unwrap();
    copied.execute_batch("DROP TRIGGER training_updated; PRAGMA journal_mode = wal").unwrap();
    copied.pragma_update(None, "schema_version", schema).unwrap();
    drop(copied);
    assert!(uses_revision_rows(&host_app).await);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(host_app.directory.path().join(format!("host.sqlite3{suffix}")));
    }
    std::fs::rename(&copy, host_app.database()).unwrap();
    crate::wait_until_new(async || uses_revision_rows(&host_app).await, |uses_rows| !uses_rows).await;
    assert!(!uses_revision_rows(&host_app).await);
}
