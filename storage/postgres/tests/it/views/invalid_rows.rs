//! Rows that the API cannot serve: `check_views` reports each, and requests that need one fail.

use catalogue_core::AccountId;
use catalogue_core::storage::{CheckedRows, CourseStorage, CredentialStorage, PageRequest, StorageErrorKind};
use catalogue_postgres::{OpenError, PostgresStorage};
use catalogue_storage_tests::database::items;
use catalogue_storage_tests::host_app::laws::AffectedReads::{Both, List};
use catalogue_storage_tests::host_app::laws::{self, DROP_TABLES, InvalidRow};
use catalogue_storage_tests::host_app::{Client, HostApp as _, LOOSE_POSTGRES as LOOSE};

use super::host_app::{HostApp, options};

/// Values that other databases store in other ways, and revisions.
const INVALID_ROWS: [InvalidRow; 6] = [
    ("courses SET created_at = 'infinity'", "acc, bad", "`created_at` is infinite", List),
    ("courses SET created_at = '-infinity'", "acc, bad", "`created_at` is infinite", List),
    ("courses SET created_at = '10000-01-01Z'", "acc, bad", "`created_at` is infinite", List),
    ("courses SET published_at = 'infinity'", "acc, bad", "`published_at` is infinite", Both),
    ("INSERT INTO catalogue_revisions SELECT * FROM catalogue_revisions", "acc", "several revisions", Both),
    ("revisions SET revision = ''", "acc", "`revision` is a blob", Both),
];

#[tokio::test]
async fn invalid_rows_are_reported_and_fail_reads() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    laws::invalid_rows_are_reported_and_fail_reads(&host_app, LOOSE, &INVALID_ROWS).await;
}

#[tokio::test]
async fn full_check_finds_problem_beyond_sample() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    let fill = "INSERT INTO catalogue_courses SELECT 'acc', 'c' || n, 'Title', '', 'en', now(), NULL, FALSE, NULL, 0 \
                FROM generate_series(1, 10000) AS n; \
                INSERT INTO catalogue_courses SELECT 'acc', 'late' || n, NULL, '', 'en', now(), NULL, FALSE, NULL, 0 \
                FROM generate_series(1, 150) AS n";
    host_app.host.batch_execute(fill).await.unwrap();
    assert_eq!(host_app.problems(CheckedRows::Sample).await, []);
    let found = host_app.problems(CheckedRows::All).await;
    assert_eq!(found.len(), 100, "each kind of problem is limited");
    assert_eq!(found[0].key.as_deref(), Some("acc, late1"));
}

/// Counts are compared for any collation of the views' slugs.
#[tokio::test]
async fn wrong_module_count_is_reported() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    let change = "ALTER TABLE catalogue_courses ALTER slug TYPE TEXT COLLATE \"POSIX\"; \
                  DELETE FROM catalogue_modules WHERE account_id = 'acc' AND course_slug = 'bad'; \
                  DELETE FROM catalogue_modules WHERE account_id = 'acc' AND course_slug = 'good' AND number = 2; \
                  INSERT INTO catalogue_courses SELECT 'acc', 'c' || n, 'Title', '', 'en', now(), NULL, FALSE, NULL, 0 \
                  FROM generate_series(1, 20000) AS n";
    let host_app = host_app.reopened(change).await;
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = host_app.problems(rows).await;
        let reported = found.iter().map(|problem| (problem.view, problem.key.as_deref().unwrap(), &*problem.problem));
        let expected = [("bad", "0 modules"), ("good", "1 module")].map(|(slug, modules)| {
            (format!("acc, {slug}"), format!("`module_count` is 2, but the course has {modules}"))
        });
        let expected = expected.iter().map(|(key, what)| ("catalogue_courses", &**key, &**what));
        assert!(reported.eq(expected), "{found:?}");
        let expected = "the number of its rows in `catalogue_modules`; give both views the same conditions";
        assert_eq!(found[0].expected, expected);
    }
}

#[tokio::test]
async fn unreadable_columns_are_reported_by_opening_and_check() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    let schema = host_app.schema.name();
    for (change, view, what, expected_fix) in [
        ("DROP TABLE catalogue_modules", "modules", "has no such view", "number"),
        ("ALTER TABLE catalogue_courses DROP COLUMN hidden", "courses", "no column `hidden`", "add it as a boolean"),
        (
            "ALTER TABLE catalogue_courses ALTER slug TYPE UUID USING gen_random_uuid()",
            "courses",
            "`slug` has type uuid",
            "change it to a text: CAST(slug AS TEXT)",
        ),
        (
            "ALTER TABLE catalogue_accounts ALTER id TYPE NUMERIC USING 1",
            "accounts",
            "`id` has type numeric",
            "CAST(id AS TEXT)",
        ),
        (
            "ALTER TABLE catalogue_courses ALTER created_at TYPE DATE",
            "courses",
            "`created_at` has type date",
            "timestamptz",
        ),
        (
            "ALTER TABLE catalogue_courses ALTER hidden TYPE INTEGER USING 0",
            "courses",
            "`hidden` has type integer",
            "BOOLEAN",
        ),
        ("ALTER TABLE catalogue_modules ALTER number TYPE NUMERIC", "modules", "`number` has type numeric", "BIGINT"),
        (
            "ALTER TABLE catalogue_revisions ALTER revision TYPE TEXT",
            "revisions",
            "`revision` has type text",
            "16 bytes",
        ),
    ] {
        host_app.host.batch_execute(&format!("BEGIN; {change}; COMMIT")).await.unwrap();
        let Err(OpenError::Views(found)) = PostgresStorage::open(&options(&host_app.schema)).await else {
            panic!("{change}")
        };
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert_eq!((problem.view, &problem.key), (&*format!("catalogue_{view}"), &None));
        assert!(problem.problem.contains(what) && problem.expected.contains(expected_fix), "{problem:?}");
        assert_eq!(host_app.problems(CheckedRows::Sample).await, found);
        let again = format!("DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}; {LOOSE}");
        host_app.host.batch_execute(&again).await.unwrap();
    }
    // Any string type, domains of domains, and other sizes of integers and times are accepted.
    let other_types = "CREATE EXTENSION citext; CREATE DOMAIN title AS VARCHAR(9); \
                       CREATE DOMAIN flag AS BOOLEAN; CREATE DOMAIN shown_flag AS flag; \
                       ALTER TABLE catalogue_courses ALTER slug TYPE CITEXT, ALTER title TYPE title, \
                       ALTER hidden TYPE shown_flag, ALTER language TYPE CHAR(2), ALTER module_count TYPE SMALLINT, ALTER created_at TYPE TIMESTAMP(3)";
    let host_app = host_app.reopened(other_types).await;
    assert_eq!(host_app.problems(CheckedRows::All).await, []);
    let listed = items(&host_app.storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap();
    assert_eq!(
        listed.iter().map(|item| (&*item.slug, &*item.title)).collect::<Vec<_>>(),
        [("good", "Title"), ("bad", "Title")]
    );
    assert!(host_app.storage.find_course(&AccountId::new("acc"), "good").await.unwrap().value.is_some());
    assert!(host_app.storage.find_course(&AccountId::new("acc"), "GOOD").await.unwrap().value.is_none());
}

#[tokio::test]
async fn failing_view_is_reported() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    let change = "ALTER TABLE catalogue_courses RENAME TO courses; CREATE VIEW catalogue_courses AS SELECT account_id, slug, \
                  title, tagline, language, created_at, published_at, 1 / length(access_mode) = 1 AS hidden, access_mode, \
                  module_count FROM courses; UPDATE courses SET access_mode = '' WHERE slug = 'bad'";
    let host_app = host_app.reopened(change).await;
    let found = host_app.problems(CheckedRows::Sample).await;
    assert!(found.iter().any(|problem| problem.problem.contains("division by zero")), "{found:?}");
    let error = items(&host_app.storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::Corrupt);
}

#[tokio::test]
async fn changed_column_type_is_named_with_expected_type() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    for (change, pieces) in [
        (
            "ALTER TABLE catalogue_courses ALTER created_at TYPE DATE",
            &["catalogue_courses (acc, ", ": `created_at` is of the type date; expected: a timestamptz, "][..],
        ),
        ("ALTER TABLE catalogue_courses ALTER hidden TYPE TEXT", &["`hidden` is false; expected: a boolean"]),
        ("ALTER TABLE catalogue_courses DROP COLUMN module_count", &["was dropped", "restart the server"]),
    ] {
        host_app.host.batch_execute(change).await.unwrap();
        let error = items(&host_app.storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Corrupt);
        assert!(pieces.iter().all(|piece| error.to_string().contains(piece)), "{change}: {error}");
        host_app.host.batch_execute(&format!("{DROP_TABLES}{LOOSE}")).await.unwrap();
    }
}

#[tokio::test]
async fn credential_is_found_despite_invalid_revision() {
    let Some(host_app) = HostApp::with_tables(LOOSE).await else { return };
    let account = AccountId::new("acc");
    let key = Client::new(&host_app.storage, &account).await.key;
    let revision = async || host_app.storage.find_credential(&key.digest).await.unwrap().unwrap().revision;
    assert!(revision().await.is_some());
    for change in [
        "INSERT INTO catalogue_revisions VALUES ('acc', '')",
        "DELETE FROM catalogue_revisions WHERE revision <> ''",
        "DROP TABLE catalogue_revisions",
    ] {
        host_app.host.batch_execute(change).await.unwrap();
        assert_eq!(revision().await, None, "{change}");
        assert!(!matches!(host_app.storage.revision(&account).await, Ok(Some(_))), "{change}");
    }
}
