//! Changes by the host application while clients page: no response is older than the last commit before its request, and
//! paging repeats no course and skips none that exists throughout (decisions A8 and A14).

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use serde_json::Value;

use super::app::{App, FRAMEWORKS, Names, Writer};
use super::rows::{rows, statements};
use crate::program::get;

/// Number of changes committed while clients read.
const CHANGES: u64 = 60;

/// Returns a transaction that creates, changes and removes courses of the first account.
fn change(app: &App, number: u64) -> String {
    let Names { courses: table, owner, .. } = app.names();
    let account = app.account(1);
    let (new, old) = (5_000 + number, 5_000 + number.saturating_sub(3));
    let [new_id, old_id] = [new, old]
        .map(|id| if app.framework == "laravel" { format!("'{}'", super::app::uuid(id)) } else { id.to_string() });
    let others = match app.framework {
        "django" => ("language, tagline, is_hidden, is_deleted, access", "'en', '', FALSE, FALSE, ''"),
        "rails" => ("updated_at", "'2026-01-01 00:00:00'"),
        _ => ("tagline", "NULL"),
    };
    format!(
        "BEGIN;
         UPDATE {table} SET title = 'number {number}' WHERE {owner} = '{account}' AND slug IN ('course-30', 'course-106');
         INSERT INTO {table} (id, {owner}, slug, title, created_at, {}) VALUES
             ({new_id}, '{account}', 'new-{number}', 'New', '2025-02-03 10:00:{:02}', {});
         DELETE FROM {table} WHERE id = {old_id} AND slug <> 'new-{number}';
         COMMIT;",
        others.0,
        number % 60,
        others.1
    )
}

/// Reads all pages and returns the slugs in order. No page may be older than the last commit before its request.
fn read_all_pages(address: &str, token: &str, committed: &AtomicU64) -> Vec<String> {
    let (mut slugs, mut cursor) = (Vec::new(), String::new());
    loop {
        let at_least = committed.load(Ordering::SeqCst);
        let (status, page) = get(address, &format!("/api/v1/courses?limit=7{cursor}"), token);
        assert_eq!(status, 200, "{page}");
        for course in page["data"].as_array().unwrap() {
            if let Some(number) = course["title"].as_str().unwrap().strip_prefix("number ") {
                assert!(number.parse::<u64>().unwrap() >= at_least, "got {number} after commit {at_least}");
            }
            slugs.push(course["slug"].as_str().unwrap().to_owned());
        }
        match &page["meta"]["nextCursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return slugs,
        }
    }
}

fn write_and_page(app: &App) {
    let rows = rows(app);
    app.sql(&statements(app, &rows));
    app.sql(&app.example("revisions"));
    let stable: HashSet<_> =
        rows.iter().filter(|row| row.account == 1 && !row.deleted).map(|row| row.slug.clone()).collect();
    let (_, token) = app.key(&app.account(1));
    let server = app.serve("");
    let (committed, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let writer = app.writer();
    writer.run(&change(app, 1));
    committed.store(1, Ordering::SeqCst);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let is_last = over.load(Ordering::SeqCst);
                    let slugs = read_all_pages(&server.address, &token, &committed);
                    let unique: HashSet<_> = slugs.iter().cloned().collect();
                    assert_eq!(unique.len(), slugs.len(), "a course is repeated: {slugs:?}");
                    assert!(stable.is_subset(&unique), "skipped: {:?}", stable.difference(&unique));
                    if is_last {
                        return;
                    }
                }
            });
        }
        for number in 2..=CHANGES {
            writer.run(&change(app, number));
            committed.store(number, Ordering::SeqCst);
        }
        over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn cached_responses_are_fresh_and_paging_complete_during_changes() {
    FRAMEWORKS.into_iter().flat_map(App::of).for_each(|app| write_and_page(&app));
}

/// `INSERT OR REPLACE` deletes the replaced row without firing a delete trigger. The row's account must get a new revision.
#[test]
fn insert_or_replace_changes_revision_of_former_account() {
    for app in App::all_with_rows().filter(|app| !app.is_postgres()) {
        app.sql(&app.example("revisions"));
        let Writer::Sqlite(writer) = app.writer() else { unreachable!() };
        let Names { courses: table, owner, .. } = app.names();
        let account: String = writer
            .query_row(&format!("SELECT CAST({owner} AS TEXT) FROM {table} LIMIT 1"), [], |row| row.get(0))
            .unwrap();
        let revision = || -> Vec<u8> {
            let sql = "SELECT revision FROM catalogue_revisions WHERE account_id = ?1";
            writer.query_row(sql, [&account], |row| row.get(0)).unwrap()
        };
        let before = revision();
        writer
            .execute_batch(&format!(
                "PRAGMA foreign_keys = OFF; CREATE TEMP TABLE moved AS SELECT * FROM {table} WHERE {owner} = '{account}' LIMIT 1;
                 UPDATE moved SET {owner} = 99; INSERT OR REPLACE INTO {table} SELECT * FROM moved"
            ))
            .unwrap();
        assert_ne!(revision(), before, "{}", app.framework);
    }
}

/// Lessons are shared. A transaction that adds a lesson to a course waits for a concurrent change of the lesson, whose
/// trigger cannot see the new course yet.
#[test]
fn adding_lesson_to_course_waits_for_concurrent_change() {
    for app in App::with_rows("rails").into_iter().filter(App::is_postgres) {
        app.sql(&app.example("revisions"));
        let [changing, adding] = [app.writer(), app.writer()];
        changing.run("BEGIN; UPDATE lessons SET title = 'Changed' WHERE id = (SELECT min(id) FROM lessons)");
        adding.run(
            "SET lock_timeout = '10ms';
             DO $$ BEGIN
                 INSERT INTO course_lessons (id, course_id, lesson_id, position)
                     VALUES (9999, (SELECT max(id) FROM courses), (SELECT min(id) FROM lessons), 99);
                 RAISE EXCEPTION 'it did not wait';
             EXCEPTION WHEN lock_not_available THEN END $$",
        );
        changing.run("COMMIT");
    }
}
