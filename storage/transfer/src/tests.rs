//! Imports into a memory storage.

mod schema;

use std::fs::{self, File};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_core::admin::{Accounts, AdminStorage as _, Record};
use catalogue_core::storage::MemoryStorage;

use crate::*;

const START: &str = r#"
{"type":"account","id":"a","name":"A"}
{"type":"course","account":"a","slug":"one","title":"One","language":"en","createdAt":"2020-01-01T00:00:00Z"}
{"type":"course","account":"a","slug":"two","title":"Two","language":"en"}
"#;

async fn import(storage: &MemoryStorage, text: &str, options: Options) -> Result<Report, String> {
    let imported = async {
        let checked = Input::stream(Cursor::new(text.to_owned())).check()?;
        checked.prepare(storage, options).await?.finish().await
    };
    imported.await.map_err(lines_of)
}

/// Returns the errors, one per line.
fn lines_of(error: ImportError) -> String {
    match error {
        ImportError::Input { errors, stopped } => {
            assert_eq!(stopped, errors.len() == 20);
            errors.iter().map(|error| format!("{error}\n")).collect()
        }
        other => panic!("{other:?}"),
    }
}

async fn records(storage: &MemoryStorage) -> Vec<Record> {
    let mut records = Vec::new();
    storage
        .export(Accounts::All, &mut |record| {
            records.push(record);
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
    records
}

/// Returns a storage with the content of [`START`].
async fn storage_with_start() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let report = import(&storage, START, Options::default()).await.unwrap();
    assert_eq!((report.accounts.added, report.courses.added), (1, 2));
    storage
}

#[tokio::test]
async fn second_import_changes_nothing() {
    let storage = storage_with_start().await;
    let before = records(&storage).await;
    let report = import(&storage, START, Options { prune: true, ..Options::default() }).await.unwrap();
    assert_eq!((report.accounts.unchanged, report.courses.unchanged, report.courses.removed), (1, 2, 0));
    assert_eq!(records(&storage).await, before);
}

#[tokio::test]
async fn creation_time_is_kept_when_line_has_none() {
    let storage = storage_with_start().await;
    let replace = r#"{"type":"course","account":"a","slug":"one","title":"New","language":"de"}"#;
    assert_eq!(import(&storage, replace, Options::default()).await.unwrap().courses.changed, 1);
    let found = records(&storage).await;
    let Record::Course(course) = &found[1] else { panic!("{found:?}") };
    assert_eq!((&*course.title, &*course.created_at.to_exact_string()), ("New", "2020-01-01T00:00:00Z"));
}

#[tokio::test]
async fn invalid_line_undoes_earlier_lines() {
    let storage = storage_with_start().await;
    let before = records(&storage).await;
    for (line, message) in [
        ("{\"type\":\"course\",\"account\":\"a\",\"slug\":\"one\"}", "line 3: title: missing required field"),
        (
            r#"{"type":"course","account":"absent","slug":"s","title":"","language":""}"#,
            "line 3: account: no account \"absent\"; put its line before its courses",
        ),
        (r#"{"type":"account","id":"b"}"#, "line 3: id: account \"b\" is already on an earlier line"),
        (
            "{\"type\":\"course\",\"account\":\"b\",\"slug\":\"s\",\"title\":\"\",\"language\":\"\"}\n\
             {\"type\":\"course\",\"account\":\"b\",\"slug\":\"s\",\"title\":\"\",\"language\":\"\"}",
            "line 4: slug: course \"s\" of \"b\" is already on an earlier line",
        ),
    ] {
        let text = format!("{{\"type\":\"account\",\"id\":\"b\"}}\n\n{line}\n");
        assert_eq!(import(&storage, &text, Options::default()).await.unwrap_err(), format!("{message}\n"));
        assert_eq!(records(&storage).await, before, "{line}");
    }
}

#[tokio::test]
async fn format_errors_are_reported_before_database_errors() {
    let storage = storage_with_start().await;
    let before = records(&storage).await;
    let account = r#"{"type":"account","id":"b"}"#;
    let text = r#"
        {"type":"course","account":"b","slug":"s","title":"","language":""}
        {"type":"course","account":"b","slug":"s","title":"","language":""}
        {"type":"course","account":"absent","slug":"s","title":"","language":""}
        LAST
        {"type":"account","id":"b"}"#;
    let of_format = ["line 1: not JSON", "line 5: not a JSON object"];
    let of_database = [
        "line 3: slug: course \"s\" of \"b\" is already on an earlier",
        "line 4: account: no account \"absent\"",
        "line 6: id: account \"b\" is already on an earlier",
    ];
    for (first, last, expected) in [("{", "nonsense", &of_format[..]), (account, "", &of_database)] {
        let text = format!("{first}{}", text.replace("LAST", last));
        for dry_run in [false, true] {
            let message =
                import(&storage, &text, Options { dry_run, prune: true, all_names: false }).await.unwrap_err();
            assert_eq!(message.lines().count(), expected.len(), "{message}");
            assert!(message.lines().zip(expected).all(|(line, start)| line.starts_with(start)), "{message}");
            assert_eq!(records(&storage).await, before);
        }
    }
}

#[tokio::test]
async fn at_most_20_errors_are_reported() {
    let storage = storage_with_start().await;
    let unknown = r#"{"type":"course","account":"absent","slug":"s","title":"","language":""}"#;
    for line in ["nonsense", unknown] {
        let message = import(&storage, &format!("{line}\n").repeat(25), Options::default()).await.unwrap_err();
        assert_eq!(message.lines().count(), 20);
        assert!(message.lines().last().unwrap().starts_with("line 20: "), "{message}");
    }
}

#[tokio::test]
async fn dry_run_counts_without_changes() {
    let storage = storage_with_start().await;
    let before = records(&storage).await;
    let text = r#"{"type":"account","id":"a","name":"B"}"#;
    let report = import(&storage, text, Options { prune: true, dry_run: true, all_names: false }).await.unwrap();
    assert_eq!((report.dry_run, report.accounts.changed, report.courses.removed), (true, 1, 2));
    assert_eq!(records(&storage).await, before);
}

#[tokio::test]
async fn prune_ignores_accounts_without_line() {
    let storage = storage_with_start().await;
    let other = r#"{"type":"account","id":"b"}"#;
    let report = import(&storage, other, Options { prune: true, ..Options::default() }).await.unwrap();
    assert_eq!(report.courses.removed, 0);
    assert_eq!(records(&storage).await.len(), 4);
}

#[tokio::test]
async fn file_changed_after_check_is_not_imported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.jsonl");
    fs::write(&path, START).unwrap();
    let checked = Input::file(File::open(&path).unwrap()).check().unwrap();
    assert_eq!(checked.check_unchanged(), Ok(()));
    fs::write(&path, format!("{START}{START}")).unwrap();
    let mut lines = checked.lines().unwrap();
    let mut count = 0;
    while let Some(parsed) = lines.next_parsed() {
        assert!(parsed.is_ok());
        count += 1;
    }
    assert_eq!(count, 3, "the second pass reads only the lines that the first one checked");
    assert!(checked.check_unchanged().unwrap_err().contains("changed during the import"));
}

#[tokio::test]
async fn text_can_be_imported_without_file() {
    let storage = MemoryStorage::new();
    let report = import_text(&storage, START, Options::default()).await.unwrap();
    assert_eq!((report.accounts.added, report.courses.added), (1, 2));
    let courses = START.replacen(r#""a","name""#, "", 1);
    let errors = lines_of(import_text(&MemoryStorage::new(), &courses, Options::default()).await.unwrap_err());
    assert!(errors.starts_with("line 2: ") && errors.lines().count() == 1, "{errors}");
    let errors = lines_of(import_text(&storage, "\nx", Options::default()).await.unwrap_err());
    assert!(errors.starts_with("line 2: not a JSON object"));
}

#[tokio::test]
async fn watcher_counts_bytes_of_both_passes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.jsonl");
    fs::write(&path, START).unwrap();
    let length = START.len() as u64;
    let file = Input::file(File::open(&path).unwrap());
    let stream = Input::stream(Cursor::new(START));
    assert_eq!((file.length(), stream.length()), (Some(length), None));
    for input in [file, stream] {
        let read = Arc::new(AtomicU64::new(0));
        let sum = Arc::clone(&read);
        let watched = input.with_watcher(move |bytes| {
            sum.fetch_add(bytes, Ordering::Relaxed);
        });
        let checked = watched.check().unwrap();
        assert_eq!((checked.length(), read.load(Ordering::Relaxed)), (length, length));
        checked.prepare(&MemoryStorage::new(), Options::default()).await.unwrap();
        assert_eq!(read.load(Ordering::Relaxed), 2 * length);
    }
}
