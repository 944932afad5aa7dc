//! Plans over large tables: pages and courses use indexes, or `check_plans` reports a missing one.

use std::env;

use catalogue_core::AccountId;
use catalogue_core::storage::{PageRequest, ViewAdvice};
use catalogue_postgres::PostgresStorage;

use super::host_app::{HostApp, NUMBERS, TEXTS};
use crate::schema::Schema;
use catalogue_storage_tests::database::items;

/// Number of courses of ten accounts together, with one module each; `CATALOGUE_TEST_COURSES` overrides it.
fn courses() -> u32 {
    env::var("CATALOGUE_TEST_COURSES").ok().and_then(|count| count.parse().ok()).unwrap_or(50_000)
}

async fn fill(host_app: &HostApp) {
    let (owner, owners) = match host_app.has_numeric_ids {
        true => ("1 + n % 10", "INSERT INTO owners (login) SELECT 'o' || n FROM generate_series(1, 500) AS n"),
        false => ("'o' || (1 + n % 10)", "INSERT INTO owners (id) SELECT 'o' || n FROM generate_series(1, 500) AS n"),
    };
    let fill = format!(
        "SET session_replication_role = replica; {owners}; \
         INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, is_hidden) \
         SELECT {owner}, 'c' || n, 'Title', '', 'en', TIMESTAMP '2024-05-01' + n / 20 * INTERVAL '1 second', FALSE \
         FROM generate_series(1, {}) AS n; \
         INSERT INTO lessons SELECT id, 1, 'Title', '' FROM trainings; ANALYZE owners, trainings, lessons; SET session_replication_role = origin",
        courses()
    );
    host_app.host.batch_execute(&fill).await.unwrap();
}

async fn advice(storage: &PostgresStorage) -> Vec<ViewAdvice> {
    storage.views().unwrap().check_plans().await.unwrap()
}

/// The templates fix all slow plans, with texts and with numbers as ids.
#[tokio::test]
async fn index_templates_fix_slow_plans() {
    for tables in [TEXTS, NUMBERS] {
        let Some(host_app) = HostApp::with_tables(tables).await else { return };
        fill(&host_app).await;
        let found = advice(&host_app.storage).await;
        assert!(found.iter().any(|advice| advice.subject == "the first page"), "{found:#?}");
        assert!(found.iter().any(|advice| advice.subject == "a course"), "{found:#?}");
        for ViewAdvice { finding, fix, .. } in &found {
            assert!(finding.contains("scans ") && finding.contains(".trainings"), "{found:#?}");
            let mut index = fix.clone().unwrap();
            for (word, name) in [
                ("<table behind catalogue_courses>", "trainings"),
                ("<table behind catalogue_modules>", "lessons"),
                ("<account_id>", "owner"),
                ("<created_at>", "made_at"),
                ("<slug>", "handle"),
                ("<reference to its course>", "training"),
            ] {
                index = index.replace(word, name);
            }
            host_app.host.batch_execute(&index).await.unwrap();
        }
        host_app.host.batch_execute("ANALYZE trainings, lessons").await.unwrap();
        assert_eq!(advice(&host_app.storage).await, []);
        let account = if host_app.has_numeric_ids { "1" } else { "o1" };
        let listed = items(&host_app.storage, &AccountId::new(account), &PageRequest::default()).await.unwrap();
        assert_eq!(listed.len(), 50);
    }
}

/// The list's index could also find a course, but only by reading the account's whole range. The database scans the table.
#[tokio::test]
async fn plan_in_use_is_reported_if_it_scans() {
    let tables = TEXTS.replace("VARCHAR(200)", "TEXT COLLATE \"C\"");
    let Some(host_app) = HostApp::with_tables(&tables).await else { return };
    let fill = |courses: u32| {
        format!(
            "INSERT INTO owners VALUES ('o1') ON CONFLICT DO NOTHING; \
             INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, is_hidden) \
             SELECT 'o1', 'c' || n, 'Title', '', 'en', TIMESTAMP '2024-05-01' + n * INTERVAL '1 second', FALSE \
             FROM generate_series(1, {courses}) AS n"
        )
    };
    let indexes = "ALTER TABLE trainings SET (autovacuum_enabled = off); \
                   CREATE INDEX ON trainings (owner, made_at, handle); \
                   CREATE INDEX of_course ON trainings (owner, handle); CREATE OR REPLACE VIEW catalogue_courses AS \
                   SELECT owner AS account_id, handle AS slug, name AS title, subtitle AS tagline, lang AS language, \
                   made_at AS created_at, live_at AS published_at, is_hidden AS hidden, access AS access_mode, \
                   0 AS module_count FROM trainings";
    let host_app = host_app.reopened(indexes).await;
    for (change, subject, fix) in [
        (&*fill(10), "", ""),
        (&fill(30_000), "trainings", "ANALYZE"),
        ("ANALYZE trainings", "", ""),
        ("DROP INDEX of_course", "a course", "CREATE INDEX ON <table behind catalogue_courses> (<account_id>, <slug>)"),
    ] {
        host_app.host.batch_execute(change).await.unwrap();
        let found = advice(&host_app.storage).await;
        assert_eq!(found.is_empty(), subject.is_empty(), "{change}: {found:?}");
        let is_expected = |advice: &ViewAdvice| {
            advice.subject.ends_with(subject) && advice.fix.as_ref().is_some_and(|found| found.starts_with(fix))
        };
        assert!(found.iter().all(is_expected), "{change}: {found:?}");
    }
}

#[tokio::test]
async fn small_indexed_tables_get_no_advice() {
    let Some(host_app) = HostApp::with_tables(TEXTS).await else { return };
    let indexes = "CREATE INDEX ON trainings (owner, made_at, handle COLLATE \"C\"); \
                   CREATE UNIQUE INDEX ON trainings (owner, handle)";
    host_app.host.batch_execute(indexes).await.unwrap();
    assert_eq!(advice(&host_app.storage).await, [], "no rows, and no statistics");
    host_app.host.batch_execute("INSERT INTO owners VALUES ('o1'); ANALYZE owners, trainings, lessons").await.unwrap();
    assert_eq!(advice(&host_app.storage).await, []);
}

/// Courses and their owners in two tables of a schema that only the views' owner may use.
const APART: &str = "
    CREATE SCHEMA TEAM_apart;
    CREATE TABLE TEAM_apart.u (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE TEAM_apart.c (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, uid BIGINT NOT NULL REFERENCES TEAM_apart.u,
        slug TEXT NOT NULL, made TIMESTAMPTZ NOT NULL, UNIQUE (uid, slug)
    );
    CREATE VIEW catalogue_accounts AS SELECT name AS id FROM TEAM_apart.u;
    CREATE VIEW catalogue_courses AS
    SELECT u.name AS account_id, c.slug, 'Title' AS title, '' AS tagline, 'en' AS language, c.made AS created_at,
        c.made AS published_at, FALSE AS hidden, CAST(NULL AS TEXT) AS access_mode, 0 AS module_count
    FROM TEAM_apart.c JOIN TEAM_apart.u ON u.id = c.uid;
    CREATE VIEW catalogue_modules AS
    SELECT '' AS account_id, '' AS course_slug, 1 AS number, '' AS title, '' AS summary WHERE FALSE;
";

#[tokio::test]
async fn tables_hidden_from_role_are_checked() {
    let Some(schema) = Schema::new().await else { return };
    let (name, role) = (schema.name(), format!("{}_tight", schema.name()));
    let host = schema.host().await;
    host.batch_execute(&APART.replace("TEAM", name)).await.unwrap();
    let grant = format!(
        "CREATE ROLE {role} LOGIN; CREATE SCHEMA {name}_keys AUTHORIZATION {role}; GRANT USAGE ON SCHEMA {name} TO {role}; \
         GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO {role}"
    );
    host.batch_execute(&grant).await.unwrap();
    let address = schema.address().replace("user=postgres", &format!("user={role}"));
    let options = Schema::options_of(&address).views(name).schema(&format!("{name}_keys"));
    let storage = PostgresStorage::open_and_migrate(&options).await.unwrap();
    let fill = |courses: u32| {
        format!(
            "INSERT INTO {name}_apart.u (name) SELECT 'o' || n FROM generate_series(1, 500) AS n ON CONFLICT DO NOTHING; \
             INSERT INTO {name}_apart.c (uid, slug, made) SELECT 1 + n % 10, 'c' || n, \
             TIMESTAMPTZ '2024-05-01Z' + n / 20 * INTERVAL '1 second' FROM generate_series(1, {courses}) AS n \
             ON CONFLICT DO NOTHING; ANALYZE {name}_apart.u, {name}_apart.c"
        )
    };
    for courses in [0, 500, courses()] {
        host.batch_execute(&fill(courses)).await.unwrap();
        let found = advice(&storage).await;
        let pages = found.iter().filter(|advice| advice.subject.ends_with("page") && advice.finding.contains("sorts "));
        assert_eq!((pages.count(), found.len()), if courses > 500 { (2, 2) } else { (0, 0) }, "{courses}: {found:#?}");
    }
}
