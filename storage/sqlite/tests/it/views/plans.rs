//! Plans over many courses: requests that scan or sort are reported, with an index template that fixes them.

use catalogue_core::AccountId;
use catalogue_core::storage::CourseStorage;
use catalogue_core::storage::{CourseRow, CourseRows, Limit, PageRequest, ViewAdvice};
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;
use tempfile::TempDir;

/// Tables as Django creates them: numbers as ids, and times as text.
const DJANGO: &str = "
    CREATE TABLE auth_user (id INTEGER PRIMARY KEY, username TEXT NOT NULL);
    CREATE TABLE courses_course (
        id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id bigint NOT NULL REFERENCES auth_user (id), slug varchar(200) NOT NULL,
        title varchar(200) NOT NULL, created datetime NOT NULL, published datetime, is_hidden bool NOT NULL
    );
    CREATE TABLE courses_module (
        id INTEGER PRIMARY KEY AUTOINCREMENT, course_id bigint NOT NULL, position integer NOT NULL, title text NOT NULL
    );
    CREATE VIEW catalogue_accounts AS SELECT id FROM auth_user;
    CREATE VIEW catalogue_courses AS SELECT owner_id AS account_id, slug, title, '' AS tagline,
        'en' AS language, created AS created_at, published AS published_at, is_hidden AS hidden, NULL AS access_mode
        FROM courses_course;
    CREATE VIEW catalogue_modules AS SELECT c.owner_id AS account_id, c.slug AS course_slug,
        m.position AS number, m.title AS title, '' AS summary
        FROM courses_module m INNER JOIN courses_course c ON m.course_id = c.id;
    INSERT INTO auth_user SELECT value, 'user ' || value FROM generated;
    INSERT INTO courses_course (owner_id, slug, title, created, is_hidden)
        SELECT 1 + value % 100, 'course-' || value, 'Course', strftime('%Y-%m-%d %H:%M:%S', 1700000000 + value / 500, 'unixepoch'), 0
        FROM generated;
    INSERT INTO courses_module (course_id, position, title) SELECT id, 1, 'One' FROM courses_course WHERE id % 10 = 0;
";

/// Tables with text ids in another table, soft deletion, and times as numbers.
const JOINED: &str = "
    CREATE TABLE teams (id INTEGER PRIMARY KEY, public_id TEXT NOT NULL UNIQUE);
    CREATE TABLE lessons (training_id INTEGER NOT NULL, place INTEGER NOT NULL, heading TEXT NOT NULL);
    CREATE TABLE trainings (
        id INTEGER PRIMARY KEY, team_id INTEGER NOT NULL, handle TEXT NOT NULL COLLATE NOCASE, made_at INTEGER NOT NULL,
        deleted_at INTEGER, size INTEGER NOT NULL
    );
    CREATE VIEW catalogue_accounts (id) AS SELECT public_id FROM teams;
    CREATE VIEW catalogue_courses AS SELECT s.public_id AS account_id, t.handle AS slug, t.handle AS title, '' AS tagline,
        'en' AS language, t.made_at AS created_at, NULL AS published_at, 0 AS hidden, NULL AS access_mode, t.size AS module_count
        FROM trainings t JOIN teams s ON s.id = t.team_id WHERE t.deleted_at IS NULL;
    CREATE VIEW catalogue_modules AS SELECT s.public_id AS account_id, t.handle AS course_slug, l.place AS number,
        l.heading AS title, '' AS summary
        FROM lessons AS l JOIN trainings AS t ON t.id = l.training_id JOIN teams AS s ON s.id = t.team_id;
    INSERT INTO teams SELECT value, CAST(value AS TEXT) FROM generated;
    INSERT INTO trainings SELECT value, 1 + value % 100, 'course-' || value, 1700000000000000 + value / 500, NULL, value % 10 = 0 FROM generated;
    INSERT INTO lessons SELECT id, 1, 'One' FROM trainings WHERE size = 1;
";

/// Returns `CATALOGUE_TEST_COURSES`, or 100,000: a tenth of the number that is tested before a release.
fn course_count() -> u32 {
    std::env::var("CATALOGUE_TEST_COURSES").map_or(100_000, |number| number.parse().unwrap())
}

fn host_app(tables: &str) -> (TempDir, Connection, SqliteStorage) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host.sqlite3");
    let writer = Connection::open(&path).unwrap();
    let numbers = format!(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = OFF; CREATE TEMP VIEW generated AS
         WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < {})
         SELECT value FROM numbers; BEGIN;",
        course_count()
    );
    writer.execute_batch(&format!("{numbers}{tables} COMMIT")).unwrap();
    let storage = SqliteStorage::open_and_migrate_views(directory.path().join("keys.db"), path).unwrap();
    (directory, writer, storage)
}

async fn advice(storage: &SqliteStorage) -> Vec<ViewAdvice> {
    storage.views().unwrap().check_plans().await.unwrap()
}

/// Returns the first three pages of an account, and asserts that a course is found.
async fn pages(storage: &SqliteStorage) -> Vec<String> {
    let account = AccountId::new("7");
    let mut page = PageRequest { limit: Limit::MAX, ..PageRequest::default() };
    let mut found = Vec::new();
    for _ in 0..3 {
        let mut take = |row: CourseRow<'_>| found.push(format!("{} {}", row.slug, row.module_count));
        let mut rows = CourseRows::new(page.limit, &mut take);
        storage.list_courses(&account, &page, &mut rows).await.unwrap();
        page.after = rows.next();
        assert!(page.after.is_some());
    }
    let course = storage.find_course(&account, "course-1006").await.unwrap().value.unwrap();
    assert_eq!(course.slug, "course-1006");
    found
}

/// Fills in a template with the tables' own names.
fn named(template: &str, names: &[(&str, &str)]) -> String {
    // Give each index a unique name.
    let mut index: String =
        template.split('…').enumerate().map(|(at, part)| format!("{part}by_{at}_{}", names.len())).collect();
    index.truncate(index.rfind("by_").unwrap());
    names.iter().fold(index, |index, (word, name)| index.replace(word, name))
}

#[tokio::test]
async fn index_templates_fix_slow_plans() {
    for (tables, courses, modules, names) in [
        (
            DJANGO,
            "courses_course",
            "courses_module",
            [
                ("<account_id>", "owner_id"),
                ("<created_at>", "created"),
                ("<slug>", "slug"),
                ("<reference to its course>", "course_id"),
            ],
        ),
        (
            JOINED,
            "trainings",
            "lessons",
            [
                ("<account_id>", "team_id"),
                ("<created_at>", "made_at"),
                ("<slug>", "handle"),
                ("<reference to its course>", "training_id"),
            ],
        ),
    ] {
        let (_directory, writer, storage) = host_app(tables);
        let found = advice(&storage).await;
        let subjects: Vec<_> = found.iter().map(|advice| &*advice.subject).collect();
        assert_eq!(subjects, ["the first page", "a later page", "a course"], "{found:#?}");
        for (at, ViewAdvice { finding, fix, .. }) in found.iter().enumerate() {
            assert!(
                finding.starts_with("SQLite s")
                    && ["SCAN ", "USE TEMP B-TREE"].iter().any(|step| finding.contains(step)),
                "{finding}"
            );
            let index = named(fix.as_ref().unwrap(), &names)
                .replace("<table behind catalogue_courses>", courses)
                .replace("<table behind catalogue_modules>", modules)
                .replace("INDEX by_", &format!("INDEX by_{at}_"));
            writer.execute_batch(&index).unwrap();
        }
        assert_eq!(advice(&storage).await, [], "{found:#?}");
        // Read the same courses directly from the tables, whose times all have one format.
        let expected = match tables {
            DJANGO => {
                "SELECT slug || ' ' || (SELECT count(*) FROM courses_module WHERE course_id = c.id) FROM courses_course AS c \
                 WHERE owner_id = 7 ORDER BY created DESC, slug DESC"
            }
            _ => "SELECT handle || ' ' || size FROM trainings WHERE team_id = 7 ORDER BY made_at DESC, handle DESC",
        };
        let mut expected = writer.prepare(&format!("{expected} LIMIT 300")).unwrap();
        let expected: Vec<String> = expected.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(expected.len(), 300);
        assert_eq!(pages(&storage).await, expected);
        // Statistics change plans.
        writer.execute_batch("ANALYZE").unwrap();
        assert_eq!(advice(&storage).await, [], "{found:#?}");
        assert_eq!(pages(&storage).await, expected);
    }
}

/// The finding quotes the plan, even if the view reads a subquery.
#[tokio::test]
async fn scan_is_reported_with_its_table() {
    let (_directory, writer, storage) = host_app(JOINED);
    writer
        .execute_batch(
            "DROP VIEW catalogue_accounts;
             CREATE VIEW catalogue_accounts AS SELECT lower(own.name) AS id FROM (SELECT public_id AS name FROM teams) AS own",
        )
        .unwrap();
    let found = advice(&storage).await;
    let account_advice = found.iter().find(|advice| advice.subject == "an account").unwrap();
    assert!(
        account_advice.finding.starts_with("SQLite scans: ") && account_advice.finding.contains("teams"),
        "{found:#?}"
    );
    assert_eq!(account_advice.fix.as_deref(), Some("CREATE INDEX … ON <table behind catalogue_accounts> (<id>)"));
}

/// The plan of an application with a single account scans, but in the order of an index, and matches every row.
#[tokio::test]
async fn ordered_scan_of_only_account_is_not_reported() {
    let (_directory, writer, storage) = host_app(JOINED);
    writer
        .execute_batch(
            "DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT 'us' AS id;
             DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT 'us' AS account_id, handle AS slug,
                 handle AS title, '' AS tagline, 'en' AS language, made_at AS created_at, NULL AS published_at, 0 AS hidden,
                 NULL AS access_mode, size AS module_count FROM trainings;
             CREATE INDEX lessons_by_training ON lessons (training_id); CREATE INDEX by_handle ON trainings (handle COLLATE BINARY)",
        )
        .unwrap();
    let found = advice(&storage).await;
    let page = found.iter().find(|advice| advice.subject == "the first page").unwrap();
    let index = page.fix.as_ref().unwrap().replace("<account_id>, ", "");
    let index = named(
        &index,
        &[("<table behind catalogue_courses>", "trainings"), ("<created_at>", "made_at"), ("<slug>", "handle")],
    );
    writer.execute_batch(&index).unwrap();
    let found = advice(&storage).await;
    assert!(found.iter().all(|advice| !advice.subject.ends_with("page")), "{found:#?}");
}

/// Soft deletion as in Rails with `discard`, whose column has an index; most courses are not discarded.
const DISCARDED: &str = "
    CREATE TABLE accounts (id INTEGER PRIMARY KEY);
    CREATE TABLE courses (
        id INTEGER PRIMARY KEY, account_id integer NOT NULL, slug varchar NOT NULL, created_at datetime(6) NOT NULL,
        discarded_at datetime(6)
    );
    CREATE INDEX index_courses_on_discarded_at ON courses (discarded_at);
    CREATE TABLE lessons (id INTEGER PRIMARY KEY, course_id integer NOT NULL, position integer NOT NULL);
    CREATE INDEX index_lessons_on_course_id ON lessons (course_id);
    CREATE VIEW catalogue_accounts AS SELECT id FROM accounts;
    CREATE VIEW catalogue_courses AS SELECT c.account_id AS account_id, c.slug, c.slug AS title, '' AS tagline,
        'en' AS language, c.created_at, NULL AS published_at, 0 AS hidden, NULL AS access_mode, 0 AS module_count
        FROM courses c WHERE c.discarded_at IS NULL;
    CREATE VIEW catalogue_modules AS SELECT c.account_id AS account_id, c.slug AS course_slug, l.position AS number,
        'One' AS title, '' AS summary FROM lessons l JOIN courses c ON c.id = l.course_id
        WHERE c.discarded_at IS NULL;
    INSERT INTO accounts SELECT value FROM generated WHERE value <= 100;
    INSERT INTO courses SELECT value, 1 + value % 100, 'course-' || value, '2025-01-01 00:00:00.' || substr('00000' || value, -6),
        CASE WHEN value % 20 = 5 THEN '2026-01-01 00:00:00.' || value END FROM generated;
";

/// Without STAT4 samples, SQLite knows only the mean number of rows per value, and so prefers an index with one frequent value.
#[tokio::test]
async fn misleading_statistics_are_reported_with_chosen_index() {
    let (_directory, writer, storage) = host_app(DISCARDED);
    let index = advice(&storage).await[0].fix.clone().unwrap();
    let names = [
        ("<table behind catalogue_courses>", "courses"),
        ("<account_id>", "account_id"),
        ("<created_at>", "created_at"),
        ("<slug>", "slug"),
    ];
    writer.execute_batch(&named(&index, &names)).unwrap();
    let page_advice = async || {
        advice(&storage).await.into_iter().filter(|advice| advice.subject.ends_with("page")).collect::<Vec<_>>()
    };
    assert_eq!(page_advice().await, []);

    writer.execute_batch("ANALYZE; DROP TABLE sqlite_stat4").unwrap();
    let found = page_advice().await;
    assert!(
        !found.is_empty()
            && found.iter().all(|advice| advice.finding.contains("USING INDEX index_courses_on_discarded_at")),
        "{found:#?}"
    );
    let views: Vec<String> = {
        let sql = "SELECT sql FROM sqlite_schema WHERE name IN ('catalogue_courses', 'catalogue_modules')";
        let mut statement = writer.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let views = views.join(";").replace("c.discarded_at IS", "+c.discarded_at IS");
    writer.execute_batch(&format!("DROP VIEW catalogue_courses; DROP VIEW catalogue_modules; {views}")).unwrap();
    assert_eq!(page_advice().await, []);
}
