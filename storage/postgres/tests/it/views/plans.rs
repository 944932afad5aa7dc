//! Pages and courses of large tables are read by an index, or `check_plans` says which one is missing.

use std::env;

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage, PageRequest, ViewAdvice};
use catalogue_postgres::PostgresStorage;

use super::team::{LOOSE, NUMBERS, TEXTS, Team};
use crate::items;
use crate::schema::Schema;

/// So many courses in all, a tenth of them of one account, and a module each; more with this variable.
fn courses() -> u32 {
    env::var("CATALOGUE_TEST_COURSES").ok().and_then(|count| count.parse().ok()).unwrap_or(50_000)
}

async fn fill(team: &Team) {
    let (owner, owners) = match team.numbers {
        true => ("1 + n % 10", "INSERT INTO owners (login) SELECT 'o' || n FROM generate_series(1, 500) AS n"),
        false => ("'o' || (1 + n % 10)", "INSERT INTO owners SELECT 'o' || n FROM generate_series(1, 500) AS n"),
    };
    let fill = format!(
        "SET session_replication_role = replica; {owners}; \
         INSERT INTO trainings (owner, handle, name, subtitle, lang, made_at, is_hidden) \
         SELECT {owner}, 'c' || n, 'Title', '', 'en', TIMESTAMP '2024-05-01' + n / 20 * INTERVAL '1 second', FALSE \
         FROM generate_series(1, {}) AS n; \
         INSERT INTO lessons SELECT id, 10, 'Title', '' FROM trainings; ANALYZE; SET session_replication_role = origin",
        courses()
    );
    team.host.batch_execute(&fill).await.unwrap();
}

async fn advice(storage: &PostgresStorage) -> Vec<ViewAdvice> {
    storage.views().unwrap().check_plans().await.unwrap()
}

/// Does what is advised, and asserts that each is one of these.
async fn follow(team: &Team, expected: &[&str]) {
    let found = advice(&team.storage).await;
    let remedies: Vec<_> = found.iter().filter_map(|advice| advice.remedy.as_deref()).collect();
    let name = format!("{}.", team.schema.name());
    let plain: Vec<_> = remedies.iter().map(|remedy| remedy.replace(&name, "")).collect();
    assert_eq!(plain, expected, "{found:#?}");
    for remedy in remedies {
        team.host.batch_execute(remedy).await.unwrap();
    }
    team.host.batch_execute("ANALYZE").await.unwrap();
    assert_eq!(advice(&team.storage).await, []);
}

#[tokio::test]
async fn an_index_is_advised_for_each_statement_and_ends_what_it_is_for() {
    let Some(team) = Team::new(TEXTS).await else { return };
    // One of a few rows is none.
    team.host.batch_execute("CREATE INDEX ON trainings (owner, handle) WHERE is_hidden").await.unwrap();
    fill(&team).await;
    follow(
        &team,
        &[
            "CREATE INDEX ON trainings (owner, made_at, handle COLLATE \"C\")",
            "CREATE INDEX ON trainings (owner, ((handle)::text))",
        ],
    )
    .await;
    let listed = items(&team.storage, &AccountId::new("o1"), &PageRequest::default()).await.unwrap();
    assert_eq!((listed.len(), listed[0].module_count), (50, 1));
}

/// The list's index could also find a course, but only by reading all of it: the database scans the table instead.
#[tokio::test]
async fn plan_in_use_is_reported_if_it_scans() {
    let tables = TEXTS.replace("VARCHAR(200)", "TEXT COLLATE \"C\"");
    let Some(team) = Team::new(&tables).await else { return };
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
    let team = team.reopened(indexes).await;
    for (change, about, remedy) in [
        (&*fill(10), "", ""),
        (&fill(30_000), "trainings", "ANALYZE"),
        ("ANALYZE trainings", "", ""),
        ("DROP INDEX of_course", "a course", "CREATE INDEX"),
    ] {
        team.host.batch_execute(change).await.unwrap();
        let found = advice(&team.storage).await;
        assert_eq!(found.is_empty(), about.is_empty(), "{change}: {found:?}");
        let is_expected = |advice: &ViewAdvice| {
            advice.about.ends_with(about) && advice.remedy.as_ref().is_some_and(|found| found.starts_with(remedy))
        };
        assert!(found.iter().all(is_expected), "{change}: {found:?}");
    }
}

#[tokio::test]
async fn a_cast_key_has_an_index_of_its_expression() {
    let Some(team) = Team::new(NUMBERS).await else { return };
    let unique = "CREATE UNIQUE INDEX ON trainings (owner, handle); CREATE INDEX ON trainings (owner, made_at, handle)";
    team.host.batch_execute(unique).await.unwrap();
    fill(&team).await;
    follow(
        &team,
        &[
            "CREATE INDEX ON owners (((id)::text))",
            "CREATE INDEX ON trainings (((owner)::text), made_at, handle COLLATE \"C\")",
            "CREATE INDEX ON trainings (((owner)::text), handle)",
        ],
    )
    .await;
    assert!(team.storage.find_course(&AccountId::new("2"), "c1").await.unwrap().value.is_some());
}

#[tokio::test]
async fn courses_of_one_account_have_an_index_without_it() {
    let Some(team) = Team::new(TEXTS).await else { return };
    fill(&team).await;
    let one = "CREATE OR REPLACE VIEW catalogue_courses AS SELECT CAST('o1' AS TEXT) AS account_id, handle AS slug, name AS title, \
               subtitle AS tagline, lang AS language, made_at AS created_at, live_at AS published_at, is_hidden AS hidden, \
               access AS access_mode FROM trainings";
    let team = team.reopened(one).await;
    let modules = "CREATE INDEX ON trainings (owner, ((handle)::text))";
    let of_courses =
        ["(made_at, handle COLLATE \"C\")", "(((handle)::text))"].map(|by| format!("CREATE INDEX ON trainings {by}"));
    follow(&team, &[&of_courses[0], &of_courses[1], modules]).await;
}

#[tokio::test]
async fn small_tables_with_their_indexes_are_well() {
    let Some(team) = Team::new(TEXTS).await else { return };
    let indexes = "CREATE INDEX ON trainings (owner, made_at, handle COLLATE \"C\"); \
                   CREATE UNIQUE INDEX ON trainings (owner, handle)";
    team.host.batch_execute(indexes).await.unwrap();
    assert_eq!(advice(&team.storage).await, [], "no rows, and no statistics");
    team.host.batch_execute("INSERT INTO owners VALUES ('o1'); ANALYZE").await.unwrap();
    assert_eq!(advice(&team.storage).await, []);
}

#[tokio::test]
async fn what_no_index_ends_is_said_without_a_statement() {
    let Some(team) = Team::new(LOOSE).await else { return };
    let zoned = "ALTER TABLE catalogue_courses RENAME TO courses; \
                 ALTER TABLE courses ALTER created_at TYPE TIMESTAMP; \
                 CREATE VIEW catalogue_courses AS SELECT account_id, slug, title, tagline, language, \
                 CAST(created_at AS TIMESTAMPTZ) AS created_at, published_at, hidden, access_mode, module_count FROM courses";
    let team = team.reopened(zoned).await;
    let found = advice(&team.storage).await;
    let of_page = found.iter().find(|advice| advice.about == "the first page" && advice.remedy.is_none()).unwrap();
    assert!(of_page.what.contains("read as UTC"), "{found:#?}");
    let united = "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT * FROM courses UNION ALL SELECT * FROM courses";
    let team = team.reopened(united).await;
    let found = advice(&team.storage).await;
    assert!(
        found.iter().any(|advice| advice.what.contains("not columns of one table") && advice.remedy.is_none()),
        "{found:#?}"
    );
    let numbered = "DROP VIEW catalogue_courses; ALTER TABLE courses RENAME TO catalogue_courses; \
                    ALTER TABLE catalogue_modules RENAME TO modules; CREATE VIEW catalogue_modules AS SELECT account_id, \
                    course_slug, row_number() OVER (PARTITION BY md5(course_slug)) AS number, title, summary FROM modules";
    let team = team.reopened(numbered).await;
    let found = advice(&team.storage).await;
    assert!(found.iter().any(|advice| advice.what.contains("partitioned") && advice.remedy.is_none()), "{found:#?}");
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
async fn tables_that_the_role_may_not_use_are_looked_at_and_no_index_is_advised_twice() {
    let Some(schema) = Schema::new().await else { return };
    let (name, role) = (schema.name(), format!("{}_tight", schema.name()));
    let host = schema.host().await;
    host.batch_execute(&APART.replace("TEAM", name)).await.unwrap();
    let grant = format!(
        "CREATE ROLE {role} LOGIN; CREATE SCHEMA {name}_ours AUTHORIZATION {role}; GRANT USAGE ON SCHEMA {name} TO {role}; \
         GRANT SELECT ON catalogue_accounts, catalogue_courses, catalogue_modules TO {role}"
    );
    host.batch_execute(&grant).await.unwrap();
    let address = schema.address().replace("user=postgres", &format!("user={role}"));
    let options = Schema::options_of(&address).views(name).schema(&format!("{name}_ours"));
    let storage = PostgresStorage::open_and_migrate(&options).await.unwrap();
    let fill = |courses: u32| {
        format!(
            "INSERT INTO {name}_apart.u (name) SELECT 'o' || n FROM generate_series(1, 500) AS n ON CONFLICT DO NOTHING; \
             INSERT INTO {name}_apart.c (uid, slug, made) SELECT 1 + n % 10, 'c' || n, \
             TIMESTAMPTZ '2024-05-01Z' + n / 20 * INTERVAL '1 second' FROM generate_series(1, {courses}) AS n \
             ON CONFLICT DO NOTHING; ANALYZE"
        )
    };
    for courses in [0, 500, courses()] {
        host.batch_execute(&fill(courses)).await.unwrap();
        let found = advice(&storage).await;
        assert!(found.iter().all(|advice| advice.remedy.is_none()), "{courses}: {found:#?}");
    }
}

/// What is no view has an index of its own columns.
#[tokio::test]
async fn a_table_and_a_materialised_view_are_indexed_themselves() {
    let Some(team) = Team::new(TEXTS).await else { return };
    fill(&team).await;
    let kept = "ALTER VIEW catalogue_courses RENAME TO shown; ALTER VIEW catalogue_modules RENAME TO parts; \
                CREATE MATERIALIZED VIEW catalogue_courses AS SELECT *, CAST(1 AS BIGINT) AS module_count FROM shown; \
                CREATE TABLE catalogue_modules AS SELECT * FROM parts; ANALYZE";
    let team = team.reopened(kept).await;
    let expected = [
        "CREATE INDEX ON catalogue_courses (account_id, created_at, slug COLLATE \"C\")",
        "CREATE INDEX ON catalogue_courses (account_id, ((slug)::text))",
        "CREATE INDEX ON catalogue_modules (account_id, ((course_slug)::text))",
    ];
    follow(&team, &expected).await;
    let tables = "ALTER MATERIALIZED VIEW catalogue_courses RENAME TO kept; \
                  CREATE TABLE catalogue_courses AS SELECT * FROM kept; ANALYZE";
    let team = team.reopened(tables).await;
    follow(&team, &expected[..2]).await;
}

/// Courses that belong to owners by a table of both.
const JOINED: &str = "
    CREATE TABLE teams (id BIGINT PRIMARY KEY, gone TIMESTAMP);
    CREATE TABLE courses (id BIGINT PRIMARY KEY, slug VARCHAR NOT NULL, gone TIMESTAMP, made TIMESTAMP NOT NULL);
    CREATE UNIQUE INDEX ON courses (slug) WHERE gone IS NULL;
    CREATE TABLE courses_teams (course_id BIGINT NOT NULL, team_id BIGINT NOT NULL);
    CREATE INDEX ON courses_teams (team_id, course_id);
    CREATE TABLE parts (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, course_id BIGINT NOT NULL REFERENCES courses, place INTEGER,
        gone TIMESTAMP
    );
    CREATE INDEX ON parts (course_id);
    CREATE VIEW catalogue_accounts AS SELECT CAST(id AS TEXT) AS id FROM teams WHERE gone IS NULL;
    CREATE VIEW catalogue_courses AS
    SELECT CAST(t.team_id AS TEXT) AS account_id, c.slug, 'Title' AS title, '' AS tagline, 'en' AS language,
        c.made AS created_at, c.made AS published_at, FALSE AS hidden, CAST(NULL AS TEXT) AS access_mode,
        (SELECT count(*) FROM parts AS m WHERE m.course_id = c.id AND m.gone IS NULL) AS module_count
    FROM courses AS c JOIN courses_teams AS t ON t.course_id = c.id WHERE c.gone IS NULL;
    CREATE VIEW catalogue_modules AS
    SELECT CAST(t.team_id AS TEXT) AS account_id, c.slug AS course_slug,
        row_number() OVER (PARTITION BY CAST(t.team_id AS TEXT), c.slug ORDER BY m.place, m.id) AS number,
        'Part' AS title, '' AS summary
    FROM parts AS m JOIN courses AS c ON c.id = m.course_id JOIN courses_teams AS t ON t.course_id = c.id
    WHERE c.gone IS NULL AND m.gone IS NULL;
    INSERT INTO teams SELECT generate_series(1, 4);
    INSERT INTO courses SELECT n, 'c-' || n, CASE WHEN n % 13 = 0 THEN now() END,
        TIMESTAMP '2025-01-01' + n / 4 * INTERVAL '1 day' FROM generate_series(1, 300) AS n;
    INSERT INTO courses_teams SELECT id, 1 + id % 3 FROM courses;
    INSERT INTO parts (course_id, place) SELECT c.id, n * 10 FROM courses AS c, generate_series(1, 5) AS n;
    ANALYZE;
";

/// A join that compares again what an index has found reads nothing too much.
#[tokio::test]
async fn pages_of_several_tables_sort_and_nothing_else_is_told_of_them() {
    let Some(team) = Team::new(JOINED).await else { return };
    for advice in advice(&team.storage).await {
        team.host.batch_execute(&advice.remedy.unwrap_or_default()).await.unwrap();
    }
    team.host.batch_execute("ANALYZE").await.unwrap();
    let found = advice(&team.storage).await;
    let [page] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((&*page.about, &page.remedy), ("the first page", &None));
    assert!(page.what.contains("all courses of the account") && page.what.contains("materialised view"), "{page:?}");
}
