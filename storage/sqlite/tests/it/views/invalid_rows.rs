//! Rows that the API cannot serve: the check reports each, and requests that read it fail.

use catalogue_core::storage::{CheckedRows, CourseStorage, StorageErrorKind};

use super::host_app::{HostApp, Kind, PLAIN, Times};
use super::{anna, problems, slugs, two_courses};

/// Reads that fail because of an invalid row.
#[derive(Clone, Copy, PartialEq)]
enum AffectedReads {
    List,
    Detail,
    Both,
    /// Only the check reports the row.
    Nothing,
}
use AffectedReads::{Both, Detail, List, Nothing};

/// Change by the host application, view with the invalid row, text of the reported problem, and reads that fail.
type InvalidRow = (&'static str, &'static str, &'static str, AffectedReads);

const INVALID_ROWS: [InvalidRow; 32] = [
    ("UPDATE trainings SET name = NULL", "catalogue_courses", "`title` is null", Both),
    ("UPDATE trainings SET name = x'00'", "catalogue_courses", "`title` is a blob", Both),
    ("UPDATE trainings SET name = CAST(x'ff' AS TEXT)", "catalogue_courses", "`title` is not UTF-8", Both),
    ("UPDATE trainings SET subtitle = NULL", "catalogue_courses", "`tagline` is null", Detail),
    ("UPDATE trainings SET lang = NULL", "catalogue_courses", "`language` is null", Both),
    ("UPDATE trainings SET access = x'01'", "catalogue_courses", "`access_mode` is a blob", Detail),
    ("UPDATE trainings SET is_hidden = NULL", "catalogue_courses", "`hidden` is null", Both),
    ("UPDATE trainings SET is_hidden = 2", "catalogue_courses", "`hidden` is 2", Both),
    ("UPDATE trainings SET is_hidden = 'true'", "catalogue_courses", "`hidden` is true", Both),
    ("UPDATE trainings SET made_at = NULL", "catalogue_courses", "`created_at` is null", List),
    ("UPDATE trainings SET made_at = 1.5", "catalogue_courses", "`created_at` is a real number", List),
    ("UPDATE trainings SET made_at = x'00'", "catalogue_courses", "`created_at` is a blob", List),
    ("UPDATE trainings SET made_at = 'yesterday'", "catalogue_courses", "`created_at` is yesterday", List),
    ("UPDATE trainings SET made_at = '2026-02-30 00:00:00'", "catalogue_courses", "2026-02-30", List),
    ("UPDATE trainings SET made_at = '2026-01-02T03:04:05'", "catalogue_courses", "2026-01-02T03:04:05", List),
    (
        "UPDATE trainings SET made_at = '2026-01-02T03:04:05' || char(0)",
        "catalogue_courses",
        "2026-01-02T03:04:05",
        List,
    ),
    ("UPDATE trainings SET made_at = 300000000000000000", "catalogue_courses", "is 300000000000000000", List),
    (
        "UPDATE trainings SET made_at = '2026-01-02T03:04:05+23:00'",
        "catalogue_courses",
        "SQLite reads differently",
        List,
    ),
    ("UPDATE trainings SET made_at = 1767323045", "catalogue_courses", "in microseconds is 1970", Nothing),
    ("UPDATE trainings SET live_since = 'soon'", "catalogue_courses", "`published_at` is soon", Both),
    ("UPDATE trainings SET handle = NULL", "catalogue_courses", "`slug` is null", List),
    ("UPDATE trainings SET handle = ''", "catalogue_courses", "`slug` is \"\"", List),
    ("UPDATE trainings SET handle = 'a/b'", "catalogue_courses", "`slug` is a/b", List),
    ("UPDATE trainings SET handle = 'a' || char(10)", "catalogue_courses", "`slug` is \"a\\n\"", List),
    ("UPDATE trainings SET handle = hex(zeroblob(101))", "catalogue_courses", "`slug` is", List),
    ("UPDATE trainings SET handle = 'second'", "catalogue_courses", "a duplicate of this slug", Both),
    ("UPDATE lessons SET heading = NULL", "catalogue_modules", "`title` is null", Detail),
    ("UPDATE lessons SET abstract = x'00'", "catalogue_modules", "`summary` is a blob", Detail),
    ("UPDATE lessons SET place = place + 1", "catalogue_modules", "gaps or duplicates", Detail),
    ("UPDATE lessons SET place = 2", "catalogue_modules", "gaps or duplicates", Detail),
    ("UPDATE lessons SET place = 0 WHERE place = 1", "catalogue_modules", "`number` is 0", Detail),
    ("UPDATE lessons SET place = NULL", "catalogue_modules", "`number` is null", Detail),
];

#[tokio::test]
async fn invalid_rows_are_reported_and_never_served() {
    for times in [Times::SpaceSeparated, Times::Rfc3339] {
        for (sql, view, what, affected) in INVALID_ROWS {
            let host_app = HostApp::new(Kind { times, ..PLAIN });
            host_app.put(&two_courses());
            assert_eq!(problems(&host_app).await, []);
            assert_eq!(slugs(&host_app).await.unwrap(), ["second", "first"]);
            host_app.execute(sql);
            let found = problems(&host_app).await;
            let reported = found.iter().find(|problem| problem.view == view && problem.problem.contains(what));
            assert!(reported.is_some(), "{sql}: {found:?}");
            assert!(
                reported.is_none_or(
                    |problem| problem.key.as_ref().unwrap().contains("anna") && !problem.expected.is_empty()
                )
            );
            let every = host_app.storage.views().unwrap().check_views(CheckedRows::All).await.unwrap();
            assert_eq!(every, found, "{sql}");

            let list = slugs(&host_app).await.map(|_| ());
            assert_eq!(list.is_err(), matches!(affected, List | Both), "{sql}: {list:?}");
            let detail = host_app.storage.find_course(&anna(), "second").await.map(|_| ());
            assert_eq!(detail.is_err(), matches!(affected, Detail | Both), "{sql}: {detail:?}");
            for error in [list, detail].into_iter().filter_map(Result::err) {
                assert_eq!(error.kind(), StorageErrorKind::Corrupt, "{sql}");
                let text = error.to_string();
                assert!(text.contains(view) && text.contains("anna"), "{sql}: {text}");
            }
        }
    }
}

/// If the sample ends within a course, the check reads the numbers of all its modules.
#[tokio::test]
async fn module_check_covers_rows_beyond_sample() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    host_app.execute(
        "DELETE FROM lessons; DROP INDEX lessons_in_order;
         WITH RECURSIVE places (place) AS (SELECT 10001 UNION ALL SELECT place - 1 FROM places WHERE place > 1)
         INSERT INTO lessons SELECT id, place, 'One', '', '' FROM places, trainings WHERE handle = 'second'",
    );
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        assert_eq!(host_app.storage.views().unwrap().check_views(rows).await.unwrap(), [], "{rows:?}");
    }
    host_app.execute("UPDATE lessons SET place = 10002 WHERE place = 10001");
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = host_app.storage.views().unwrap().check_views(rows).await.unwrap();
        assert!(matches!(&*found, [problem] if problem.problem.contains("gaps or duplicates")), "{rows:?} {found:?}");
    }
}

/// `module_count` may count rows that the view of modules does not have.
#[tokio::test]
async fn wrong_module_count_is_reported() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    let other = catalogue_core::Course { slug: "Second".to_owned(), ..two_courses()[1].clone() };
    host_app.put(&[other]);
    let set_module_count = |count: &str| {
        host_app.execute(&format!(
            "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT login COLLATE NOCASE AS account_id,
             handle COLLATE NOCASE AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
             live_since AS published_at, is_hidden AS hidden, access AS access_mode, {count} AS module_count
             FROM trainings AS t JOIN people AS p ON p.id = person_id"
        ));
    };
    let lessons = "(SELECT count(*) FROM lessons WHERE training_id = t.id)";
    set_module_count(lessons);
    assert_eq!(problems(&host_app).await, []);
    set_module_count(&format!("{lessons} + (handle <> 'Second')"));
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = host_app.storage.views().unwrap().check_views(rows).await.unwrap();
        let pairs: Vec<_> = found.iter().map(|problem| (problem.key.as_deref().unwrap(), &*problem.problem)).collect();
        let [first, second] = [(1, 0), (3, 2)]
            .map(|(count, found)| format!("`module_count` is {count}, but the course has {found} modules"));
        assert_eq!(pairs, [("anna, first", &*first), ("anna, second", &*second)]);
        for problem in &found {
            assert_eq!(
                (problem.view, &*problem.expected),
                ("catalogue_courses", "the number of its rows in `catalogue_modules`")
            );
        }
    }
    // An invalid count is reported only once for each of the three courses.
    for count in ["NULL", "'two'", "-1"] {
        set_module_count(count);
        assert_eq!(problems(&host_app).await.len(), 3, "{count}");
    }
}

/// A page that ends before a row without a time is served; the page that reaches the row fails.
#[tokio::test]
async fn only_page_with_invalid_row_fails() {
    use catalogue_core::storage::{CourseRow, CourseRows, Limit, PageRequest};

    let host_app = HostApp::new(PLAIN);
    let mut courses = Vec::from(two_courses());
    courses.push(catalogue_core::Course { slug: "third".to_owned(), ..courses[0].clone() });
    host_app.put(&courses);
    host_app.execute("UPDATE trainings SET made_at = NULL WHERE handle = 'first'");
    let mut page = PageRequest { limit: Limit::MIN, ..PageRequest::default() };
    let mut take = |_: CourseRow<'_>| {};
    let mut rows = CourseRows::new(page.limit, &mut take);
    host_app.storage.list_courses(&anna(), &page, &mut rows).await.unwrap();
    page.after = rows.next();
    assert_eq!(page.after.as_ref().unwrap().slug, "second");
    let refused = crate::items(&host_app.storage, &anna(), &page).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::Corrupt);
    assert!(refused.to_string().contains("anna, first"), "{refused}");
}

/// Paging cannot skip a row without a slug, for any limit: the row sorts after all others of its instant.
#[tokio::test]
async fn paging_fails_on_any_row_without_slug() {
    use catalogue_core::storage::{CourseRow, CourseRows, Limit, PageRequest};

    let host_app = HostApp::new(PLAIN);
    let [older, newer] = two_courses();
    let at = |slug: &str| catalogue_core::Course { slug: slug.to_owned(), ..newer.clone() };
    host_app.put(&[older.clone(), at("a"), at("b"), at("c")]);
    host_app.execute("UPDATE trainings SET handle = NULL WHERE handle = 'a'");
    for limit in 1..=4 {
        let mut page = PageRequest { limit: Limit::new(limit).unwrap(), ..PageRequest::default() };
        let mut rows_read = 0;
        let refused = loop {
            let mut take = |_: CourseRow<'_>| rows_read += 1;
            let mut rows = CourseRows::new(page.limit, &mut take);
            if let Err(refused) = host_app.storage.list_courses(&anna(), &page, &mut rows).await {
                break refused;
            }
            page.after = rows.next();
            assert!(page.after.is_some(), "paging by {limit} ends after {rows_read}");
        };
        assert!(refused.to_string().contains("`slug` is null"), "{refused}");
    }
}

/// Covers revisions of a wrong type, several revisions of one account, and an id that is a real number.
#[tokio::test]
async fn ids_and_revisions_of_wrong_type_are_reported() {
    let kind = Kind { has_revisions: true, ..PLAIN };
    for (sql, view, what) in [
        ("UPDATE states SET state = x'0102'", "catalogue_revisions", "`revision` is a blob"),
        ("UPDATE states SET state = 'later'", "catalogue_revisions", "`revision` is later"),
        (
            "DROP VIEW catalogue_revisions; CREATE VIEW catalogue_revisions AS SELECT login AS account_id, state AS revision
                FROM states JOIN people ON id = person_id UNION ALL SELECT 'anna', zeroblob(16)",
            "catalogue_revisions",
            "several revisions",
        ),
    ] {
        let host_app = HostApp::new(kind);
        host_app.put(&two_courses());
        assert_eq!(problems(&host_app).await, []);
        assert!(host_app.storage.revision(&anna()).await.unwrap().is_some());
        host_app.execute(sql);
        let found = problems(&host_app).await;
        assert!(found.iter().any(|problem| problem.view == view && problem.problem.contains(what)), "{sql}: {found:?}");
        let refused = host_app.storage.revision(&anna()).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Corrupt, "{sql}");
    }
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    host_app.execute(
        "UPDATE people SET login = '7'; DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT
        person_id + 6.5 AS account_id, handle AS slug, name AS title, subtitle AS tagline, lang AS language,
        made_at AS created_at, live_since AS published_at, is_hidden AS hidden, access AS access_mode FROM trainings",
    );
    let found = problems(&host_app).await;
    assert!(found.iter().any(|problem| problem.problem == "`account_id` is a real number"), "{found:?}");
}

/// A UUID is a blob, or a text with or without hyphens.
#[tokio::test]
async fn uuid_is_accepted_as_revision() {
    let host_app = HostApp::new(Kind { has_revisions: true, ..PLAIN });
    host_app.put(&two_courses());
    let mut revisions = Vec::new();
    for value in [
        "x'00112233445566778899AABBCCDDEEFF'",
        "'00112233-4455-6677-8899-AABBCCDDEEFF'",
        "'00112233445566778899aabbccddeeff'",
        "x'00112233445566778899AABBCCDDEEFE'",
    ] {
        host_app.execute(&format!("UPDATE states SET state = {value}"));
        assert_eq!(problems(&host_app).await, []);
        revisions.push(host_app.storage.revision(&anna()).await.unwrap().unwrap());
    }
    assert!(revisions[..3].iter().all(|revision| *revision == revisions[0]), "{revisions:?}");
    assert_ne!(revisions[3], revisions[0]);
}

#[tokio::test]
async fn missing_views_and_columns_are_reported() {
    let host_app = HostApp::new(PLAIN);
    host_app.put(&two_courses());
    host_app.execute("DROP VIEW catalogue_modules; DROP VIEW catalogue_accounts; CREATE VIEW catalogue_accounts AS SELECT login FROM people");
    let found = problems(&host_app).await;
    let reported: Vec<(&str, &str)> = found.iter().map(|problem| (problem.view, problem.problem.as_str())).collect();
    assert_eq!(reported[0], ("catalogue_accounts", "it has no column `id`"));
    assert_eq!(found[0].expected, "`id`: text or integer, not null");
    assert_eq!(reported[1].0, "catalogue_modules");
    assert!(reported[1].1.contains("no such table"), "{reported:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    let refused = slugs(&host_app).await.unwrap_err();
    assert_eq!(refused.kind(), StorageErrorKind::Corrupt);
    assert!(refused.to_string().contains("views check"), "{refused}");
}
