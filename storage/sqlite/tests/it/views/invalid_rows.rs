//! Rows that the API cannot serve: the check reports each, and requests that read it fail.

use catalogue_core::Course;
use catalogue_core::storage::{
    CheckedRows, CourseRow, CourseRows, CourseStorage, Limit, PageRequest, StorageErrorKind,
};
use catalogue_storage_tests::host_app::laws::AffectedReads::{Both, Detail, List, Neither};
use catalogue_storage_tests::host_app::laws::{InvalidRow, invalid_rows_are_reported_and_fail_reads};
use catalogue_storage_tests::host_app::{HostApp as _, LOOSE_SQLITE, two_courses};

use super::host_app::{HostApp, PLAIN, WITH_REVISIONS};
use super::{anna, problems, with_two_courses};

/// Values that other databases refuse to store, and revisions.
const INVALID_ROWS: [InvalidRow; 26] = [
    ("courses SET title = x'00'", "acc, bad", "`title` is a blob", Both),
    ("courses SET title = CAST(x'ff' AS TEXT)", "acc, bad", "`title` is not UTF-8", Both),
    ("courses SET access_mode = x'01'", "acc, bad", "`access_mode` is a blob", Detail),
    ("courses SET hidden = 2", "acc, bad", "`hidden` is 2", Both),
    ("courses SET hidden = 'true'", "acc, bad", "`hidden` is true", Both),
    ("courses SET created_at = 1.5", "acc, bad", "`created_at` is a real number", List),
    ("courses SET created_at = x'00'", "acc, bad", "`created_at` is a blob", List),
    ("courses SET created_at = 'yesterday'", "acc, bad", "`created_at` is yesterday", List),
    ("courses SET created_at = '2026-02-30 00:00:00'", "acc, bad", "2026-02-30", List),
    ("courses SET created_at = '2026-01-02T03:04:05'", "acc, bad", "2026-01-02T03:04:05", List),
    ("courses SET created_at = '2026-01-02T03:04:05' || char(0)", "acc, bad", "2026-01-02T03:04:05", List),
    ("courses SET created_at = 300000000000000000", "acc, bad", "is 300000000000000000", List),
    ("courses SET created_at = '2026-01-02T03:04:05+23:00'", "acc, bad", "SQLite reads differently", List),
    ("courses SET created_at = 1767323045", "acc, bad", "in microseconds is 1970", Neither),
    ("courses SET published_at = 'soon'", "acc, bad", "`published_at` is soon", Both),
    ("courses SET slug = 'a' || char(10)", "acc", "`slug` is \"a\\n\"", List),
    ("courses SET module_count = 'two'", "acc, bad", "`module_count` is the text \"two\"", List),
    ("modules SET title = x'00'", "acc, bad", "`title` is a blob", Detail),
    ("modules SET summary = x'00'", "acc, bad", "`summary` is a blob", Detail),
    ("modules SET number = 2", "acc, bad", "gaps or duplicates", Detail),
    ("modules SET number = number - 1", "acc, bad", "`number` is 0", Detail),
    ("accounts SET id = 1.5", "", "`id` is a real number", Neither),
    ("courses SET account_id = 1.5", "bad", "`account_id` is a real number", Neither),
    ("revisions SET revision = x'0102'", "acc", "`revision` is a blob", Both),
    ("revisions SET revision = 'later'", "acc", "`revision` is later", Both),
    ("INSERT INTO catalogue_revisions SELECT * FROM catalogue_revisions", "acc", "several revisions", Both),
];

#[tokio::test]
async fn invalid_rows_are_reported_and_never_served() {
    for tables in [LOOSE_SQLITE, &LOOSE_SQLITE.replace("01T10", "01 10").replace("Z'", "'")] {
        let host_app = HostApp::with_tables(PLAIN, tables);
        invalid_rows_are_reported_and_fail_reads(&host_app, tables, &INVALID_ROWS).await;
    }
}

/// If the sample ends within a course, the check reads the numbers of all its modules.
#[tokio::test]
async fn module_check_covers_rows_beyond_sample() {
    let host_app = with_two_courses(PLAIN).await;
    host_app.write(
        "DELETE FROM lessons; DROP INDEX lessons_in_order;
         WITH RECURSIVE places (place) AS (SELECT 10001 UNION ALL SELECT place - 1 FROM places WHERE place > 1)
         INSERT INTO lessons SELECT id, place, 'One', '' FROM places, trainings WHERE handle = 'second'",
    );
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        assert_eq!(host_app.problems(rows).await, [], "{rows:?}");
    }
    host_app.write("UPDATE lessons SET place = 10002 WHERE place = 10001");
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = host_app.problems(rows).await;
        assert!(matches!(&*found, [problem] if problem.problem.contains("gaps or duplicates")), "{rows:?} {found:?}");
    }
}

/// `module_count` may count rows that the view of modules does not have. Slugs differ by case only.
#[tokio::test]
async fn wrong_module_count_is_reported() {
    let host_app = with_two_courses(PLAIN).await;
    host_app.put_courses(&[Course { slug: "Second".to_owned(), ..two_courses(&anna())[1].clone() }]).await;
    let set_module_count = |count: &str| {
        host_app.write(&format!(
            "DROP VIEW catalogue_courses; CREATE VIEW catalogue_courses AS SELECT login COLLATE NOCASE AS account_id,
             handle COLLATE NOCASE AS slug, name AS title, subtitle AS tagline, lang AS language, made_at AS created_at,
             live_at AS published_at, is_hidden AS hidden, access AS access_mode, {count} AS module_count
             FROM trainings AS t JOIN owners AS o ON o.id = owner"
        ));
    };
    let lessons = "(SELECT count(*) FROM lessons WHERE training = t.id)";
    set_module_count(lessons);
    assert_eq!(problems(&host_app).await, []);
    set_module_count(&format!("{lessons} + (handle <> 'Second')"));
    for rows in [CheckedRows::Sample, CheckedRows::All] {
        let found = host_app.problems(rows).await;
        let pairs: Vec<_> = found.iter().map(|problem| (problem.key.as_deref().unwrap(), &*problem.problem)).collect();
        let [first, second] = [(1, 0), (3, 2)]
            .map(|(count, found)| format!("`module_count` is {count}, but the course has {found} modules"));
        assert_eq!(pairs, [("anna, first", &*first), ("anna, second", &*second)]);
        let expected = "the number of its rows in `catalogue_modules`; give both views the same conditions";
        assert_eq!(found[0].expected, expected);
    }
    // An invalid count is reported only once for each of the three courses.
    set_module_count("-1");
    assert_eq!(problems(&host_app).await.len(), 3);
}

/// Paging cannot skip a row without a time or a slug, for any limit: the row sorts after all others, or after those of its
/// instant. Pages before it are served.
#[tokio::test]
async fn paging_fails_at_row_without_time_or_slug() {
    for (column, name, served) in [("made_at", "created_at", 2), ("handle", "slug", 1)] {
        let host_app = HostApp::new(PLAIN);
        let [older, newer] = two_courses(&anna());
        let at = |slug: &str| Course { slug: slug.to_owned(), ..newer.clone() };
        host_app.put_courses(&[older, at("a"), at("b"), at("c")]).await;
        host_app.write(&format!("UPDATE trainings SET {column} = NULL WHERE handle = 'a'"));
        for limit in 1..=4 {
            let mut page = PageRequest { limit: Limit::new(limit).unwrap(), ..PageRequest::default() };
            let mut pages = 0;
            let refused = loop {
                let mut take = |_: CourseRow<'_>| {};
                let mut rows = CourseRows::new(page.limit, &mut take);
                if let Err(refused) = host_app.storage.list_courses(&anna(), &page, &mut rows).await {
                    break refused;
                }
                pages += 1;
                page.after = rows.next();
                assert!(page.after.is_some(), "paging by {limit} ends after {pages} pages");
            };
            assert!(limit > 1 || pages == served, "{column}: {pages}");
            assert_eq!(refused.kind(), StorageErrorKind::Corrupt);
            assert!(refused.to_string().contains(&format!("`{name}` is null")), "{refused}");
            assert!(refused.to_string().contains("anna, "), "{refused}");
        }
    }
}

/// A UUID is a blob, or a text with or without hyphens.
#[tokio::test]
async fn uuid_is_accepted_as_revision() {
    let host_app = with_two_courses(WITH_REVISIONS).await;
    let mut revisions = Vec::new();
    for value in [
        "x'00112233445566778899AABBCCDDEEFF'",
        "'00112233-4455-6677-8899-AABBCCDDEEFF'",
        "'00112233445566778899aabbccddeeff'",
        "x'00112233445566778899AABBCCDDEEFE'",
    ] {
        host_app.write(&format!("UPDATE states SET state = {value}"));
        assert_eq!(problems(&host_app).await, []);
        revisions.push(host_app.storage.revision(&anna()).await.unwrap().unwrap());
    }
    assert!(revisions[..3].iter().all(|revision| *revision == revisions[0]), "{revisions:?}");
    assert_ne!(revisions[3], revisions[0]);
}
