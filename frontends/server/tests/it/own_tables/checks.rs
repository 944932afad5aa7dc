//! `views check` and `doctor`: each problem is reported with its location, a description and the expected value.

use std::thread;

use catalogue_storage_tests::host_app::{LOOSE_POSTGRES, LOOSE_SQLITE};
use serde_json::{Value, json};

use super::app::{App, FRAMEWORKS};
use super::rows::{rows_of, statements};
use crate::doctor;
use crate::program::Outcome;

/// Returns the messages of `doctor` about `check` with `verdict`.
pub(super) fn findings(outcome: &Outcome, check: &str, verdict: &str) -> Vec<String> {
    let found = doctor::findings(outcome, check).into_iter().filter(|(found, _)| found == verdict);
    found.map(|(_, message)| message).collect()
}

/// If the index is missing, `doctor` names the slow requests, and `doctor` and the startup log suggest the index.
#[test]
fn example_indexes_prevent_scans_and_sorts() {
    thread::scope(|scope| {
        for framework in FRAMEWORKS {
            scope.spawn(move || App::of(framework).iter().for_each(assert_indexes_prevent_scans_and_sorts));
        }
    });
}

fn assert_indexes_prevent_scans_and_sorts(app: &App) {
    app.sql(&statements(app, &rows_of(app, [4500, 4500])));
    app.sql("ANALYZE");
    let place = format!("{} in {}", app.framework, app.kind());
    let slow = || findings(&app.run("doctor --json"), "plans", "warning");
    assert_eq!(slow(), [""; 0], "{place}");
    app.sql("DROP INDEX catalogue_list");
    let index = "ON <table behind catalogue_courses> (<account_id>, ";
    for about in ["the first page: ", "a later page: "] {
        assert!(
            slow().iter().any(|output| output.starts_with(about) && output.contains(index)),
            "{place}: {:?}",
            slow()
        );
    }
    app.serve_until(index);
    app.sql(&app.views_example());
    assert_eq!(slow(), [""; 0], "{place}");
}

#[test]
fn equal_problems_are_printed_three_times_with_number_of_others() {
    for app in App::of("django") {
        app.sql(&statements(&app, &rows_of(&app, [12, 8])));
        let count = "(SELECT count(*) FROM courses_module m WHERE m.course_id = c.id) AS module_count";
        app.sql(&app.views_example().replace(count, "7 AS module_count"));
        let output = app.run("views check");
        let lines: Vec<_> = output.out.lines().collect();
        let are_equal = lines[..3].iter().all(|line| line.contains("`module_count` is 7, but the course has "));
        let last = "catalogue_courses: 17 more; the number of its rows in `catalogue_modules`; give both views";
        assert!(are_equal && lines.len() == 4 && lines[3].starts_with(last), "{}: {output:?}", app.kind());
    }
}

/// Each command reports the same problem; those that need a missing view refuse to start. The storages' tests have a row for
/// each problem.
#[test]
fn problems_of_views_are_reported_and_fail_responses() {
    for app in App::empty("plain") {
        app.sql(if app.is_postgres() { LOOSE_POSTGRES } else { LOOSE_SQLITE });
        app.run("migrate").succeeds();
        let report = |problems: Value| json!({ "all": false, "problems": problems, "advice": [] });
        assert_eq!(app.run("views check --json").json(), report(json!([])), "{}", app.kind());
        assert!(app.run("views check --all").succeeds().contains("checked all rows"));
        let (_, token) = app.key("acc");
        let server = app.serve("");
        let assert_reported = |view: &str, key: Value, problem: &str, expected: &str| {
            let output = app.run("views check --json");
            assert!(output.status == Some(1) && output.err.starts_with("error: the views have problems"), "{output:?}");
            let found: Value = serde_json::from_str(&output.out).unwrap();
            let reported = &found["problems"].as_array().unwrap().iter().find(|found| found["view"] == view).unwrap();
            let text = |field: &str| reported[field].as_str().unwrap();
            assert_eq!((&found["all"], &reported["key"]), (&json!(false), &key), "{}: {found}", app.kind());
            assert!(text("problem").contains(problem) && text("expected").contains(expected), "{found}");
            let lines = app.run("views check").out;
            assert!(lines.lines().any(|line| line.starts_with(view) && line.contains(text("problem"))), "{lines}");
            let doctor = app.run("doctor --json");
            let errors = findings(&doctor, "views", "error").concat();
            assert!(doctor.status == Some(1) && errors.contains(text("problem")), "{doctor:?}");
        };
        app.sql("UPDATE catalogue_courses SET title = NULL WHERE slug = 'bad' AND account_id = 'acc'");
        assert_reported("catalogue_courses", json!("acc, bad"), "`title` is null", "text");
        for (path, status) in [("/courses", 500), ("/courses/bad", 500), ("/courses/good", 200), ("/me", 200)] {
            assert_eq!(server.get(&format!("/api/v1{path}"), &token).0, status, "{}: {path}", app.kind());
        }
        let (_, body) = server.get("/api/v1/courses", &token);
        assert!(body["error"]["code"] == "internal_error" && !body.to_string().contains("bad"), "{body}");
        let displayed = app.run("views show --account acc");
        let named = displayed.err.contains("catalogue_courses (acc, bad): `title` is null");
        assert!(displayed.status == Some(1) && named, "{displayed:?}");

        app.sql("DROP TABLE catalogue_modules; ALTER TABLE catalogue_accounts RENAME id TO name");
        assert_reported("catalogue_modules", Value::Null, "such", "course_slug, number");
        let accounts = "catalogue_accounts: it has no column `id`";
        for command in ["serve --listen 127.0.0.1:0", "keys list"] {
            let pieces = ["cannot read the courses: ", accounts, "catalogue_modules: ", "course_slug, number"];
            app.run(command).fails(1, &pieces);
        }
    }
}
