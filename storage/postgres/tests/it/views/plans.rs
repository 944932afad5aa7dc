//! Pages and courses of large tables are read by an index, or `check_plans` says which one is missing.

use std::env;

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage, PageRequest, ViewAdvice};
use catalogue_postgres::PostgresStorage;

use super::team::{LOOSE, NUMBERS, TEXTS, Team};
use crate::items;

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
