//! Changes of the frameworks' tables, whose triggers of the examples replace revisions.

use serde_json::Value;

use super::app::{App, FRAMEWORKS, Names};
use super::rows::{rows, statements};
use crate::program::Server;

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

/// Returns slugs and titles of the courses on all pages.
fn all_courses(server: &Server, token: &str) -> Vec<[String; 2]> {
    let (mut courses, mut cursor) = (Vec::new(), String::new());
    loop {
        let (status, page) = server.get(&format!("/api/v1/courses?limit=7{cursor}"), token);
        assert_eq!(status, 200, "{page}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        courses.extend(
            page["data"].as_array().unwrap().iter().map(|course| ["slug", "title"].map(|of| text(&course[of]))),
        );
        match &page["meta"]["nextCursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return courses,
        }
    }
}

#[test]
fn next_pages_contain_each_change_of_courses() {
    for app in FRAMEWORKS.into_iter().flat_map(App::of) {
        let rows = rows(&app);
        app.sql(&statements(&app, &rows));
        app.sql(&app.revisions_example());
        let stable = || rows.iter().filter(|row| row.account == 1 && !row.deleted).map(|row| row.slug.clone());
        let (_, token) = app.key(&app.account(1));
        let server = app.serve("");
        for number in 1..=6 {
            let place = format!("{} in {}, change {number}", app.framework, app.kind());
            app.sql(&change(&app, number));
            let courses = all_courses(&server, &token);
            let mut slugs: Vec<_> = courses.iter().map(|[slug, _]| slug.clone()).collect();
            let mut expected: Vec<_> =
                stable().chain((1..=number).rev().take(3).map(|new| format!("new-{new}"))).collect();
            slugs.sort();
            expected.sort();
            assert_eq!(slugs, expected, "{place}");
            let changed = courses.iter().filter(|[_, title]| *title == format!("number {number}"));
            assert_eq!(changed.count(), 2, "{place}");
        }
    }
}

/// `INSERT OR REPLACE` deletes the replaced row without firing a delete trigger. The row's account must get a new revision.
#[test]
fn insert_or_replace_changes_revision_of_former_account() {
    for app in App::all_with_rows().filter(|app| !app.is_postgres()) {
        app.sql(&app.revisions_example());
        let (host, Names { courses: table, owner, .. }) = (app.host(), app.names());
        let account = host.texts(&format!("SELECT CAST({owner} AS TEXT) FROM {table} LIMIT 1")).remove(0);
        let select = format!("SELECT hex(revision) FROM catalogue_revisions WHERE account_id = '{account}'");
        let revision = || host.texts(&select).remove(0);
        let before = revision();
        host.run(&format!(
            "PRAGMA foreign_keys = OFF; CREATE TEMP TABLE moved AS SELECT * FROM {table} WHERE {owner} = '{account}' LIMIT 1;
             UPDATE moved SET {owner} = 99; INSERT OR REPLACE INTO {table} SELECT * FROM moved"
        ));
        assert_ne!(revision(), before, "{}", app.framework);
    }
}

/// Lessons are shared. A transaction that adds a lesson to a course waits for a concurrent change of the lesson, whose
/// trigger cannot see the new course yet.
#[test]
fn adding_lesson_to_course_waits_for_concurrent_change() {
    for app in App::with_rows("rails").into_iter().filter(|app| app.is_postgres()) {
        app.sql(&app.revisions_example());
        let [changing, adding] = [app.host(), app.host()];
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
