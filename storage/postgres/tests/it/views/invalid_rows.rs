//! Rows that the API cannot serve: `check_views` reports each, and requests that need one fail.

use catalogue_core::AccountId;
use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CheckedRows, CourseStorage, CredentialStorage, KeyStorage, PageRequest, StorageError, StorageErrorKind,
    ViewProblem,
};
use catalogue_postgres::{OpenError, PostgresStorage};

use super::host_app::{HostApp, LOOSE, options};
use crate::items;

/// The reads that the row makes fail: the list of courses, the course, both or neither.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AffectedReads {
    List,
    Course,
    Both,
    Neither,
}

use AffectedReads::{Both, Course, List, Neither};

/// Changes of valid rows, with the view, the key and the reported problem, and the reads that fail.
const INVALID_ROWS: [(&str, &str, &str, &str, AffectedReads); 25] = [
    ("UPDATE catalogue_accounts SET id = NULL", "accounts", "", "`id` is null", Neither),
    ("UPDATE catalogue_courses SET account_id = NULL", "courses", "bad", "`account_id` is null", Neither),
    ("UPDATE catalogue_courses SET slug = NULL", "courses", "acc", "`slug` is null", List),
    ("UPDATE catalogue_courses SET slug = ''", "courses", "acc", "`slug` is \"\"", List),
    ("UPDATE catalogue_courses SET slug = 'a/b'", "courses", "acc, a/b", "`slug` is a/b", List),
    ("UPDATE catalogue_courses SET slug = E'a\\u0085'", "courses", "acc", "`slug` is \"a\\u{85}\"", List),
    ("UPDATE catalogue_courses SET slug = repeat('é', 101)", "courses", "éé", "`slug` is \"éé", List),
    ("UPDATE catalogue_courses SET title = NULL", "courses", "acc, bad", "`title` is null", Both),
    ("UPDATE catalogue_courses SET tagline = NULL", "courses", "acc, bad", "`tagline` is null", Course),
    ("UPDATE catalogue_courses SET language = NULL", "courses", "acc, bad", "`language` is null", Both),
    ("UPDATE catalogue_courses SET hidden = NULL", "courses", "acc, bad", "`hidden` is null", Both),
    ("UPDATE catalogue_courses SET created_at = NULL", "courses", "acc, bad", "`created_at` is null", List),
    ("UPDATE catalogue_courses SET created_at = 'infinity'", "courses", "acc, bad", "`created_at` is infinite", List),
    ("UPDATE catalogue_courses SET created_at = '-infinity'", "courses", "acc, bad", "`created_at` is infinite", List),
    (
        "UPDATE catalogue_courses SET created_at = '10000-01-01Z'",
        "courses",
        "acc, bad",
        "`created_at` is infinite",
        List,
    ),
    (
        "UPDATE catalogue_courses SET published_at = 'infinity'",
        "courses",
        "acc, bad",
        "`published_at` is infinite",
        Both,
    ),
    ("UPDATE catalogue_courses SET module_count = -1", "courses", "acc, bad", "`module_count` is -1", List),
    ("UPDATE catalogue_courses SET module_count = NULL", "courses", "acc, bad", "`module_count` is null", List),
    (
        "UPDATE catalogue_courses SET module_count = 5",
        "courses",
        "acc, bad",
        "`module_count` is 5, but the course has 2 modules",
        Neither,
    ),
    ("UPDATE catalogue_modules SET title = NULL", "modules", "acc, bad", "`title` is null", Course),
    ("UPDATE catalogue_modules SET summary = NULL", "modules", "acc, bad", "`summary` is null", Course),
    ("UPDATE catalogue_modules SET number = NULL", "modules", "acc, bad", "`number` is null", Course),
    ("UPDATE catalogue_modules SET number = 0", "modules", "acc, bad", "gaps or duplicates", Course),
    ("UPDATE catalogue_modules SET number = number + 1", "modules", "acc, bad", "gaps or duplicates", Course),
    ("UPDATE catalogue_modules SET number = number * 2 - 1", "modules", "acc, bad", "gaps or duplicates", Course),
];

/// Duplicate rows, and a revision of another length.
const REPEATED: [(&str, &str, &str, &str, AffectedReads); 3] = [
    (
        "INSERT INTO catalogue_courses SELECT * FROM catalogue_courses",
        "courses",
        "acc, bad",
        "a duplicate of this slug",
        Both,
    ),
    (
        "INSERT INTO catalogue_revisions SELECT * FROM catalogue_revisions",
        "revisions",
        "acc",
        "several revisions",
        Both,
    ),
    ("UPDATE catalogue_revisions SET revision = ''", "revisions", "acc", "`revision` is a blob", Both),
];

async fn checked(storage: &PostgresStorage, rows: CheckedRows) -> Vec<ViewProblem> {
    storage.views().unwrap().check_views(rows).await.unwrap()
}

fn is_named(error: &StorageError, view: &str, key: &str) -> bool {
    let text = error.to_string();
    error.kind() == StorageErrorKind::Corrupt && text.contains(view) && text.contains(key)
}

#[tokio::test]
async fn invalid_rows_are_reported_and_fail_reads() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
    let (storage, account) = (&host_app.storage, AccountId::new("acc"));
    assert_eq!(checked(storage, CheckedRows::All).await, []);
    for (change, view, key, what, needs) in INVALID_ROWS.into_iter().chain(REPEATED) {
        let row_condition = match (view, change.starts_with("UPDATE")) {
            (_, false) | ("revisions", _) => " WHERE account_id = 'acc'",
            ("accounts", _) => " WHERE id = 'other'",
            ("courses", _) => " WHERE account_id = 'acc' AND slug = 'bad'",
            _ => " WHERE account_id = 'acc' AND course_slug = 'bad'",
        };
        host_app
            .host
            .batch_execute("CREATE TABLE IF NOT EXISTS sound_courses AS TABLE catalogue_courses")
            .await
            .unwrap();
        host_app.host.batch_execute(&format!("{change}{row_condition}")).await.unwrap();
        let view = format!("catalogue_{view}");
        for rows in [CheckedRows::Sample, CheckedRows::All] {
            let found = checked(storage, rows).await;
            let is_this = |problem: &ViewProblem| {
                problem.view == view
                    && problem.key.as_ref().is_some_and(|found| found.contains(key))
                    && problem.problem.contains(what)
            };
            assert!(found.iter().any(is_this), "{change}: {found:?}");
            assert!(
                found.iter().all(|problem| problem.view == view && !problem.expected.is_empty()),
                "{change}: {found:?}"
            );
        }
        let listed = items(storage, &account, &PageRequest::default()).await;
        let course = storage.find_course(&account, "bad").await;
        if [List, Both].contains(&needs) {
            assert!(is_named(&listed.unwrap_err(), &view, key), "{change}");
        } else {
            // If a course no longer belongs to the account, the list contains only the other one.
            let expected = if change.contains("account_id = NULL") { 1 } else { 2 };
            assert_eq!(listed.unwrap().len(), expected, "{change}");
        }
        if [Course, Both].contains(&needs) {
            assert!(is_named(&course.unwrap_err(), &view, key), "{change}");
        } else {
            course.unwrap();
        }
        // Responses of other accounts do not change.
        let listed = items(storage, &AccountId::new("other"), &PageRequest::default()).await.unwrap();
        assert_eq!(listed.len(), if view == "catalogue_accounts" { 0 } else { 2 }, "{change}");
        let again =
            "DROP TABLE catalogue_accounts, catalogue_courses, catalogue_modules, catalogue_revisions, sound_courses";
        host_app.host.batch_execute(&format!("{again}; {LOOSE}")).await.unwrap();
    }
}

#[tokio::test]
async fn full_check_finds_problem_beyond_sample() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
    let fill = "INSERT INTO catalogue_courses SELECT 'acc', 'c' || n, 'Title', '', 'en', now(), NULL, FALSE, NULL, 0 \
                FROM generate_series(1, 10000) AS n; \
                INSERT INTO catalogue_courses SELECT 'acc', 'late' || n, NULL, '', 'en', now(), NULL, FALSE, NULL, 0 \
                FROM generate_series(1, 150) AS n";
    host_app.host.batch_execute(fill).await.unwrap();
    assert_eq!(checked(&host_app.storage, CheckedRows::Sample).await, []);
    let found = checked(&host_app.storage, CheckedRows::All).await;
    assert_eq!(found.len(), 100, "each kind of problem is limited");
    assert_eq!(found[0].key.as_deref(), Some("acc, late1"));
}

/// Counts are compared for any collation of the views' slugs.
#[tokio::test]
async fn wrong_module_count_is_reported() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
    let change = "ALTER TABLE catalogue_courses ALTER slug TYPE TEXT COLLATE \"POSIX\"; \
                  DELETE FROM catalogue_modules WHERE account_id = 'acc' AND course_slug = 'bad'; \
                  DELETE FROM catalogue_modules WHERE account_id = 'acc' AND course_slug = 'good' AND number = 2; \
                  INSERT INTO catalogue_courses SELECT 'acc', 'c' || n, 'Title', '', 'en', now(), NULL, FALSE, NULL, 0 \
                  FROM generate_series(1, 20000) AS n";
    let host_app = host_app.reopened(change).await;
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = checked(&host_app.storage, rows).await;
        let reported = found.iter().map(|problem| (problem.view, problem.key.as_deref().unwrap(), &*problem.problem));
        let expected = [("bad", "0 modules"), ("good", "1 module")].map(|(slug, modules)| {
            (format!("acc, {slug}"), format!("`module_count` is 2, but the course has {modules}"))
        });
        let expected = expected.iter().map(|(key, what)| ("catalogue_courses", &**key, &**what));
        assert!(reported.eq(expected), "{found:?}");
        assert_eq!(found[0].expected, "the number of its rows in `catalogue_modules`");
    }
}

#[tokio::test]
async fn unreadable_columns_are_reported_by_opening_and_check() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
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
        assert_eq!(checked(&host_app.storage, CheckedRows::Sample).await, found);
        let again = format!("DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}; {LOOSE}");
        host_app.host.batch_execute(&again).await.unwrap();
    }
    // Any string type, domains of domains, and other sizes of integers and times are accepted.
    let other_types = "CREATE EXTENSION citext; CREATE DOMAIN title AS VARCHAR(9); \
                       CREATE DOMAIN flag AS BOOLEAN; CREATE DOMAIN shown_flag AS flag; \
                       ALTER TABLE catalogue_courses ALTER slug TYPE CITEXT, ALTER title TYPE title, \
                       ALTER hidden TYPE shown_flag, ALTER language TYPE CHAR(2), ALTER module_count TYPE SMALLINT, ALTER created_at TYPE TIMESTAMP(3)";
    let host_app = host_app.reopened(other_types).await;
    assert_eq!(checked(&host_app.storage, CheckedRows::All).await, []);
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
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
    let change = "ALTER TABLE catalogue_courses RENAME TO courses; CREATE VIEW catalogue_courses AS SELECT account_id, slug, \
                  title, tagline, language, created_at, published_at, 1 / length(access_mode) = 1 AS hidden, access_mode, \
                  module_count FROM courses; UPDATE courses SET access_mode = '' WHERE slug = 'bad'";
    let host_app = host_app.reopened(change).await;
    let found = checked(&host_app.storage, CheckedRows::Sample).await;
    assert!(found.iter().any(|problem| problem.problem.contains("division by zero")), "{found:?}");
    let error = items(&host_app.storage, &AccountId::new("acc"), &PageRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::Corrupt);
}

#[tokio::test]
async fn changed_column_type_is_named_with_expected_type() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
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
        let again = "DROP TABLE catalogue_accounts, catalogue_courses, catalogue_modules, catalogue_revisions";
        host_app.host.batch_execute(&format!("{again}; {LOOSE}")).await.unwrap();
    }
}

#[tokio::test]
async fn credential_is_found_despite_invalid_revision() {
    let Some(host_app) = HostApp::new(LOOSE).await else { return };
    let account = AccountId::new("acc");
    let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
    host_app.storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
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
