//! Plans over many courses: what is slow is told, with the indexes that end it.

use catalogue_core::AccountId;
use catalogue_core::storage::CourseStorage;
use catalogue_core::storage::{CourseRow, CourseRows, Limit, PageRequest, ViewAdvice};
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;
use tempfile::TempDir;

/// As Django names tables: numbers as ids, times as text.
const DJANGO: &str = "
    CREATE TABLE auth_user (id INTEGER PRIMARY KEY, username TEXT NOT NULL);
    CREATE TABLE courses_course (
        id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id bigint NOT NULL REFERENCES auth_user (id), slug varchar(200) NOT NULL,
        title varchar(200) NOT NULL, created datetime NOT NULL, published datetime, is_hidden bool NOT NULL
    );
    CREATE TABLE courses_module (
        id INTEGER PRIMARY KEY AUTOINCREMENT, course_id bigint NOT NULL, position integer NOT NULL, title text NOT NULL
    );
    CREATE VIEW catalogue_accounts AS SELECT CAST(id AS TEXT) AS id FROM auth_user;
    CREATE VIEW catalogue_courses AS SELECT CAST(owner_id AS TEXT) AS account_id, slug, title, '' AS tagline,
        'en' AS language, created AS created_at, published AS published_at, is_hidden AS hidden, NULL AS access_mode
        FROM courses_course;
    CREATE VIEW catalogue_modules AS SELECT CAST(c.owner_id AS TEXT) AS account_id, c.slug AS course_slug,
        m.position AS number, m.title AS title, '' AS summary
        FROM courses_module m INNER JOIN courses_course c ON m.course_id = c.id;
    INSERT INTO auth_user SELECT value, 'user ' || value FROM generated;
    INSERT INTO courses_course (owner_id, slug, title, created, is_hidden)
        SELECT 1 + value % 100, 'course-' || value, 'Course', strftime('%Y-%m-%d %H:%M:%S', 1700000000 + value / 500, 'unixepoch'), 0
        FROM generated;
    INSERT INTO courses_module (course_id, position, title) SELECT id, 1, 'One' FROM courses_course WHERE id % 10 = 0;
";

/// Text ids of another table, soft deletion, and times as numbers.
const JOINED: &str = "
    CREATE TABLE teams (id INTEGER PRIMARY KEY, public_id TEXT NOT NULL);
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

/// How many courses there are: `CATALOGUE_TEST_COURSES` or less than the million that is asked for before a release.
fn many() -> u32 {
    std::env::var("CATALOGUE_TEST_COURSES").map_or(100_000, |number| number.parse().unwrap())
}

fn team(tables: &str) -> (TempDir, Connection, SqliteStorage) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("team.sqlite3");
    let writer = Connection::open(&path).unwrap();
    let numbers = format!(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = OFF; CREATE TEMP VIEW generated AS
         WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < {})
         SELECT value FROM numbers; BEGIN;",
        many()
    );
    writer.execute_batch(&format!("{numbers}{tables} COMMIT")).unwrap();
    let storage = SqliteStorage::open_and_migrate_views(directory.path().join("keys.db"), path).unwrap();
    (directory, writer, storage)
}

async fn advice(storage: &SqliteStorage) -> Vec<ViewAdvice> {
    storage.views().unwrap().check_plans().await.unwrap()
}

/// The first pages of an account, and that a course is found.
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

#[tokio::test]
async fn indexes_that_are_proposed_end_what_is_slow() {
    for (tables, count, shown) in [
        (
            DJANGO,
            "SELECT count(*) FROM courses_module WHERE course_id = c.id",
            r#"slug COLLATE BINARY, "title", "created", "published", "is_hidden");"#,
        ),
        (JOINED, "SELECT c.size", r#"handle COLLATE BINARY, "made_at", "deleted_at", "size");"#),
    ] {
        let (_directory, writer, storage) = team(tables);
        let found = advice(&storage).await;
        // The list's has what a page shows.
        let is_list = |advice: &&ViewAdvice| advice.remedy.as_ref().is_some_and(|index| index.ends_with(shown));
        assert_eq!(found.iter().find(is_list).map(|list| &*list.about), Some("the first page"), "{found:#?}");
        for ViewAdvice { about, what, remedy } in &found {
            assert!(what.contains("all rows of") || what.contains("sorted") || what.contains("AUTOMATIC"), "{what}");
            let remedy = remedy.as_ref().unwrap_or_else(|| panic!("{about}: {what} {found:#?}"));
            writer.execute_batch(remedy).unwrap();
        }
        assert_eq!(advice(&storage).await, [], "{found:#?}");
        // The same courses by the tables' own names, where all times are of one form.
        let expected = match tables {
            DJANGO => format!(
                "SELECT slug || ' ' || ({count}) FROM courses_course AS c WHERE owner_id = 7 ORDER BY created DESC, slug DESC"
            ),
            _ => format!(
                "SELECT handle || ' ' || ({count}) FROM trainings AS c WHERE team_id = 7 ORDER BY made_at DESC, handle DESC"
            ),
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

/// An index that finds all courses of an account is no help where one is asked for.
#[tokio::test]
async fn an_index_by_more_columns_is_proposed_beside_one_by_fewer() {
    let (_directory, writer, storage) = team(DJANGO);
    let (mut key, mut others) = (None, Vec::new());
    for remedy in advice(&storage).await.into_iter().filter_map(|advice| advice.remedy) {
        if remedy.contains("courses_key") { key = Some(remedy) } else { others.push(remedy) }
    }
    writer.execute_batch(&others.concat()).unwrap();
    let found = advice(&storage).await;
    let [ViewAdvice { what, remedy, .. }] = &*found else { panic!("{found:#?}") };
    assert_eq!((&**what, remedy), ("more rows are read than are shown", &key));
}

/// An id may be there again in rows that the view leaves out, so no index is proposed that would forbid it.
#[tokio::test]
async fn an_account_that_was_deleted_may_come_back() {
    let (_directory, writer, storage) = team(JOINED);
    writer
        .execute_batch(
            "ALTER TABLE teams ADD COLUMN left_at TEXT; DROP VIEW catalogue_accounts;
             CREATE VIEW catalogue_accounts (id) AS SELECT public_id FROM teams WHERE left_at IS NULL;
             INSERT INTO teams VALUES (-1, '7', '2026-01-01')",
        )
        .unwrap();
    let found = advice(&storage).await;
    let about_accounts = found.iter().find(|advice| advice.about == "an account").unwrap();
    let remedy = about_accounts.remedy.as_ref().unwrap();
    assert!(remedy.starts_with("CREATE INDEX"), "{remedy}");
    for remedy in found.iter().filter_map(|advice| advice.remedy.as_ref()) {
        writer.execute_batch(remedy).unwrap();
    }
    assert!(advice(&storage).await.iter().all(|advice| advice.about != "an account"));
}

/// Of views that do not tell their tables, what is slow is told without an index.
#[tokio::test]
async fn of_other_views_what_is_slow_is_told() {
    let (_directory, writer, storage) = team(JOINED);
    writer
        .execute_batch(
            "DROP VIEW catalogue_accounts;
             CREATE VIEW catalogue_accounts AS SELECT lower(own.name) AS id FROM (SELECT public_id AS name FROM teams) AS own",
        )
        .unwrap();
    let found = advice(&storage).await;
    let about_accounts = found.iter().find(|advice| advice.about == "an account").unwrap();
    assert_eq!(about_accounts.remedy, None, "{found:#?}");
}

/// As Rails names what discard hides, which has an index; most courses are not hidden.
const DISCARDED: &str = "
    CREATE TABLE accounts (id INTEGER PRIMARY KEY);
    CREATE TABLE courses (
        id INTEGER PRIMARY KEY, account_id integer NOT NULL, slug varchar NOT NULL, created_at datetime(6) NOT NULL,
        discarded_at datetime(6)
    );
    CREATE INDEX index_courses_on_discarded_at ON courses (discarded_at);
    CREATE TABLE lessons (id INTEGER PRIMARY KEY, course_id integer NOT NULL, position integer NOT NULL);
    CREATE INDEX index_lessons_on_course_id ON lessons (course_id);
    CREATE VIEW catalogue_accounts AS SELECT CAST(id AS TEXT) AS id FROM accounts;
    CREATE VIEW catalogue_courses AS SELECT CAST(c.account_id AS TEXT) AS account_id, c.slug, c.slug AS title, '' AS tagline,
        'en' AS language, c.created_at, NULL AS published_at, 0 AS hidden, NULL AS access_mode, 0 AS module_count
        FROM courses c WHERE c.discarded_at IS NULL;
    CREATE VIEW catalogue_modules AS SELECT CAST(c.account_id AS TEXT) AS account_id, c.slug AS course_slug, l.position AS number,
        'One' AS title, '' AS summary FROM lessons l JOIN courses c ON c.id = l.course_id
        WHERE c.discarded_at IS NULL;
    INSERT INTO accounts SELECT value FROM generated WHERE value <= 100;
    INSERT INTO courses SELECT value, 1 + value % 100, 'course-' || value, '2025-01-01 00:00:00.' || substr('00000' || value, -6),
        CASE WHEN value % 20 = 5 THEN '2026-01-01 00:00:00.' || value END FROM generated;
";

/// Statistics without samples, as an SQLite without STAT4 makes them, have the mean of an index. Of one that has most rows
/// under one value they say that it is the best. Without statistics, the indexes that are proposed suffice.
#[tokio::test]
async fn index_that_statistics_mislead_to_is_named() {
    let (_directory, writer, storage) = team(DISCARDED);
    let create = |found: Vec<ViewAdvice>| {
        found.iter().for_each(|advice| writer.execute_batch(advice.remedy.as_ref().unwrap()).unwrap());
    };
    create(advice(&storage).await);
    assert_eq!(advice(&storage).await, []);

    writer.execute_batch("ANALYZE; DROP TABLE sqlite_stat4").unwrap();
    let found = advice(&storage).await;
    assert!(found.iter().any(|advice| advice.about.ends_with("page")), "{found:#?}");
    for ViewAdvice { what, remedy, .. } in &found {
        assert!(what.contains("sorted"), "{found:#?}");
        let wanted = "write `+discarded_at` for `discarded_at` in the conditions of the view, so that SQLite does not use \
            `index_courses_on_discarded_at`";
        assert_eq!(remedy.as_deref(), Some(wanted));
    }
    let views: Vec<String> = {
        let sql = "SELECT sql FROM sqlite_schema WHERE name IN ('catalogue_courses', 'catalogue_modules')";
        let mut statement = writer.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let views = views.join(";").replace("c.discarded_at IS", "+c.discarded_at IS");
    writer.execute_batch(&format!("DROP VIEW catalogue_courses; DROP VIEW catalogue_modules; {views}")).unwrap();
    assert_eq!(advice(&storage).await, []);
}
