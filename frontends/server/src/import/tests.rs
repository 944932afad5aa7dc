//! Imports into a memory storage.

mod schema;

use std::ops::ControlFlow;

use catalogue_core::admin::{Accounts, Record};
use catalogue_core::storage::MemoryStorage;

use super::*;

const START: &str = r#"
{"type":"account","id":"a","name":"A"}
{"type":"course","account":"a","slug":"one","title":"One","language":"en","createdAt":"2020-01-01T00:00:00Z"}
{"type":"course","account":"a","slug":"two","title":"Two","language":"en"}
"#;

async fn import(storage: &MemoryStorage, text: &str, options: Options) -> Result<Report, String> {
    let input = Input::of_text("f.jsonl", text);
    let imported = async {
        let (name, progress) = (input.name.clone(), Progress::hidden());
        let checked = check(input, &progress).await?;
        prepare(storage, &name, checked, options, &progress).await?.finish().await
    };
    imported.await.map_err(|failure| match failure {
        Failure::Work(message) | Failure::Ended(message, 1) => message,
        other => panic!("{other:?}"),
    })
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

async fn started() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let report = import(&storage, START, Options::default()).await.unwrap();
    assert_eq!((report.accounts.added, report.courses.added), (1, 2));
    storage
}

#[tokio::test]
async fn a_second_time_changes_nothing() {
    let storage = started().await;
    let before = records(&storage).await;
    let report = import(&storage, START, Options { prune: true, ..Options::default() }).await.unwrap();
    assert_eq!((report.accounts.unchanged, report.courses.unchanged, report.courses.removed), (1, 2, 0));
    assert_eq!(records(&storage).await, before);
}

#[tokio::test]
async fn a_course_keeps_its_creation_time_unless_the_line_gives_one() {
    let storage = started().await;
    let replace = r#"{"type":"course","account":"a","slug":"one","title":"New","language":"de"}"#;
    assert_eq!(import(&storage, replace, Options::default()).await.unwrap().courses.changed, 1);
    let found = records(&storage).await;
    let Record::Course(course) = &found[1] else { panic!("{found:?}") };
    assert_eq!((&*course.title, &*course.created_at.to_exact_string()), ("New", "2020-01-01T00:00:00Z"));
}

#[tokio::test]
async fn a_bad_line_undoes_those_before_it() {
    let storage = started().await;
    let before = records(&storage).await;
    for (line, message) in [
        ("{\"type\":\"course\",\"account\":\"a\",\"slug\":\"one\"}", "f.jsonl: line 3: title: missing, and required"),
        (
            r#"{"type":"course","account":"nobody","slug":"s","title":"","language":""}"#,
            "f.jsonl: line 3: account: there is no account \"nobody\"; its own line must come before those of its courses",
        ),
        (r#"{"type":"account","id":"b"}"#, "f.jsonl: line 3: id: the account \"b\" has a line before this one"),
        (
            "{\"type\":\"course\",\"account\":\"b\",\"slug\":\"s\",\"title\":\"\",\"language\":\"\"}\n\
             {\"type\":\"course\",\"account\":\"b\",\"slug\":\"s\",\"title\":\"\",\"language\":\"\"}",
            "f.jsonl: line 4: slug: the course \"s\" of \"b\" has a line before this one",
        ),
    ] {
        let text = format!("{{\"type\":\"account\",\"id\":\"b\"}}\n\n{line}\n");
        assert_eq!(import(&storage, &text, Options::default()).await.unwrap_err(), message);
        assert_eq!(records(&storage).await, before, "{line}");
    }
}

#[tokio::test]
async fn faults_of_the_format_are_told_first_and_then_those_of_the_database() {
    let storage = started().await;
    let before = records(&storage).await;
    let account = r#"{"type":"account","id":"b"}"#;
    let text = r#"
        {"type":"course","account":"b","slug":"s","title":"","language":""}
        {"type":"course","account":"b","slug":"s","title":"","language":""}
        {"type":"course","account":"nobody","slug":"s","title":"","language":""}
        LAST
        {"type":"account","id":"b"}"#;
    let of_format = [
        "f.jsonl has 2 faults; nothing was imported:",
        "f.jsonl: line 1: not JSON",
        "f.jsonl: line 5: not a JSON object",
    ];
    let of_database = [
        "f.jsonl has 3 faults; nothing was imported:",
        "f.jsonl: line 3: slug: the course \"s\" of \"b\" has a line before",
        "f.jsonl: line 4: account: there is no account \"nobody\"",
        "f.jsonl: line 6: id: the account \"b\" has a line before",
    ];
    for (first, last, told) in [("{", "nonsense", &of_format[..]), (account, "", &of_database)] {
        let text = format!("{first}{}", text.replace("LAST", last));
        for dry_run in [false, true] {
            let message =
                import(&storage, &text, Options { dry_run, prune: true, all_names: false }).await.unwrap_err();
            assert_eq!(message.lines().count(), told.len(), "{message}");
            assert!(message.lines().zip(told).all(|(line, start)| line.starts_with(start)), "{message}");
            assert_eq!(records(&storage).await, before);
        }
    }
}

#[tokio::test]
async fn no_more_than_twenty_faults_are_told() {
    let storage = started().await;
    let unknown = r#"{"type":"course","account":"nobody","slug":"s","title":"","language":""}"#;
    for line in ["nonsense", unknown] {
        let message = import(&storage, &format!("{line}\n").repeat(25), Options::default()).await.unwrap_err();
        assert_eq!(message.lines().count(), 21);
        assert!(message.starts_with("f.jsonl has 20 faults and perhaps more, as the check stopped there"), "{message}");
        assert!(message.lines().last().unwrap().starts_with("f.jsonl: line 20: "), "{message}");
    }
}

#[tokio::test]
async fn a_dry_run_counts_and_changes_nothing() {
    let storage = started().await;
    let before = records(&storage).await;
    let text = r#"{"type":"account","id":"a","name":"B"}"#;
    let report = import(&storage, text, Options { prune: true, dry_run: true, all_names: false }).await.unwrap();
    assert_eq!((report.dry_run, report.accounts.changed, report.courses.removed), (true, 1, 2));
    assert_eq!(records(&storage).await, before);
}

#[tokio::test]
async fn pruning_spares_accounts_without_a_line() {
    let storage = started().await;
    let other = r#"{"type":"account","id":"b"}"#;
    let report = import(&storage, other, Options { prune: true, ..Options::default() }).await.unwrap();
    assert_eq!(report.courses.removed, 0);
    assert_eq!(records(&storage).await.len(), 4);
}

#[tokio::test]
async fn a_file_that_is_written_to_meanwhile_is_not_imported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.jsonl");
    std::fs::write(&path, START).unwrap();
    let progress = Progress::hidden();
    let mut faults = Faults::default();
    let checked = Checked::of(Input::open(&path).unwrap().source, &progress, &mut faults).unwrap();
    assert_eq!(checked.is_the_same(), Ok(()));
    std::fs::write(&path, format!("{START}{START}")).unwrap();
    let mut lines = checked.lines("comparing", &progress).unwrap();
    let mut count = 0;
    while let Some(parsed) = lines.next_parsed() {
        assert!(parsed.is_ok());
        count += 1;
    }
    assert_eq!(count, 3, "no more than was checked");
    assert!(checked.is_the_same().unwrap_err().contains("written to meanwhile"));
}

#[tokio::test]
async fn a_text_that_is_at_hand_is_imported_too() {
    let storage = MemoryStorage::new();
    let report = run_text(&storage, "f", START, Options::default()).await.unwrap();
    assert_eq!((report.accounts.added, report.courses.added), (1, 2));
    let courses = START.replacen(r#""a","name""#, "", 1);
    let failure = run_text(&MemoryStorage::new(), "f", &courses, Options::default()).await.unwrap_err();
    assert!(failure.message().starts_with("f: line 2: ") && failure.message().lines().count() == 1, "{failure:?}");
    let failure = run_text(&storage, "f", "\nx", Options::default()).await.unwrap_err();
    assert!(failure.message().starts_with("f: line 2: not a JSON object"));
}
