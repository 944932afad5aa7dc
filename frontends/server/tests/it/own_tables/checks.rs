//! `views check` and `doctor`: each problem is reported with its location, a description and the expected value.

use serde_json::Value;

use super::app::{App, FRAMEWORKS};
use super::rows::{rows, statements};
use crate::program::Outcome;

/// Tables in place of the views, because tables can store invalid values.
const SQLITE: &str = "
    CREATE TABLE catalogue_accounts (id);
    CREATE TABLE catalogue_courses (account_id, slug, title, tagline, language, created_at, published_at, hidden,
                                    access_mode, module_count);
    CREATE TABLE catalogue_modules (account_id, course_slug, number, title, summary);";
const POSTGRES: &str = "
    CREATE TABLE catalogue_accounts (id text);
    CREATE TABLE catalogue_courses (account_id text, slug text, title text, tagline text, language text,
        created_at timestamptz, published_at timestamptz, hidden boolean, access_mode text, module_count bigint);
    CREATE TABLE catalogue_modules (account_id text, course_slug text, number integer, title text, summary text);";
const ROWS: &str = "
    INSERT INTO catalogue_accounts VALUES ('a'), ('b');
    INSERT INTO catalogue_courses VALUES
        ('a', 'one', 'One', '', 'en', '2025-01-01T00:00:00Z', NULL, FALSE, NULL, 2),
        ('a', 'two', 'Two', '', 'en', '2025-01-02T00:00:00Z', NULL, FALSE, NULL, 0),
        ('b', 'one', 'One', '', 'en', '2025-01-03T00:00:00Z', NULL, TRUE, 'free', 0);
    INSERT INTO catalogue_modules VALUES ('a', 'one', 1, 'First', ''), ('a', 'one', 2, 'Second', '');";

/// SQL that causes a problem, databases to run it on, view with the problem, and parts of its reported key and text.
const PROBLEMS: [(&str, &str, &str, &str, &str); 19] = [
    ("DROP TABLE catalogue_modules", "both", "catalogue_modules", "", ""),
    ("ALTER TABLE catalogue_courses DROP COLUMN tagline", "both", "catalogue_courses", "", "tagline"),
    ("ALTER TABLE catalogue_courses ALTER hidden TYPE text", "postgres", "catalogue_courses", "", "hidden"),
    ("ALTER TABLE catalogue_courses ALTER created_at TYPE text", "postgres", "catalogue_courses", "", "created_at"),
    (
        "UPDATE catalogue_courses SET created_at = 'yesterday' WHERE slug = 'two'",
        "sqlite",
        "catalogue_courses",
        "two",
        "created_at",
    ),
    ("UPDATE catalogue_courses SET hidden = 'no' WHERE slug = 'two'", "sqlite", "catalogue_courses", "two", "hidden"),
    ("UPDATE catalogue_courses SET title = NULL WHERE slug = 'two'", "both", "catalogue_courses", "two", "title"),
    ("UPDATE catalogue_courses SET tagline = NULL WHERE slug = 'two'", "both", "catalogue_courses", "two", "tagline"),
    (
        "UPDATE catalogue_courses SET created_at = NULL WHERE slug = 'two'",
        "both",
        "catalogue_courses",
        "two",
        "created_at",
    ),
    ("UPDATE catalogue_courses SET hidden = NULL WHERE slug = 'two'", "both", "catalogue_courses", "two", "hidden"),
    ("UPDATE catalogue_courses SET slug = 'one' WHERE slug = 'two'", "both", "catalogue_courses", "one", ""),
    ("UPDATE catalogue_courses SET slug = '' WHERE slug = 'two'", "both", "catalogue_courses", "a", ""),
    ("UPDATE catalogue_courses SET slug = 'x/y' WHERE slug = 'two'", "both", "catalogue_courses", "x/y", "/"),
    ("UPDATE catalogue_courses SET slug = 'x\ty' WHERE slug = 'two'", "both", "catalogue_courses", "x", "control"),
    ("UPDATE catalogue_modules SET number = 3 WHERE number = 2", "both", "catalogue_modules", "one", ""),
    ("UPDATE catalogue_modules SET number = number - 1", "both", "catalogue_modules", "one", ""),
    ("UPDATE catalogue_modules SET number = 1", "both", "catalogue_modules", "one", ""),
    ("UPDATE catalogue_modules SET summary = NULL WHERE number = 2", "both", "catalogue_modules", "one", "summary"),
    ("UPDATE catalogue_accounts SET id = NULL WHERE id = 'b'", "both", "catalogue_accounts", "", "id"),
];

/// Returns the messages of `doctor` about `check` with `verdict`.
pub(super) fn findings(doctor: &Outcome, check: &str, verdict: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&doctor.out).unwrap_or_else(|_| panic!("{doctor:?}"));
    let findings = report["findings"].as_array().unwrap().iter();
    let found = findings.filter(|finding| finding["check"] == check && finding["verdict"] == verdict);
    found.map(|finding| finding["message"].as_str().unwrap().to_owned()).collect()
}

/// Returns SQL that adds at least 9000 courses with new ids, spread over three accounts, and then a module to every course.
fn many(app: &App) -> String {
    let new = if app.is_postgres() { "gen_random_uuid()" } else { "lower(hex(randomblob(16)))" };
    let numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9000)";
    let [first, second, third] = [1, 2, 3].map(|number| app.account(number));
    match app.framework {
        "django" => format!(
            "{numbers} INSERT INTO courses_course (id, owner_id, slug, title, tagline, language, created_at, is_hidden, is_deleted, \
             access) SELECT 20000 + n, 1 + n % 3, 'many-' || n, '', '', 'en', '2025-01-01 00:00:00', FALSE, FALSE, '' FROM numbers; \
             INSERT INTO courses_module (\"order\", title, summary, body, course_id) SELECT 0, '', '', '', id FROM courses_course"
        ),
        "rails" => format!(
            "{numbers} INSERT INTO courses (id, account_id, slug, title, language, created_at, updated_at) \
             SELECT 20000 + n, 1 + n % 3, 'many-' || n, '', 'en', '2025-01-01 00:00:00', '2025-01-01 00:00:00' FROM numbers; \
             INSERT INTO lessons (id, title, created_at, updated_at) SELECT id + 100000, '', created_at, created_at FROM courses; \
             INSERT INTO course_lessons (course_id, lesson_id, position) SELECT id, id + 100000, 9 FROM courses"
        ),
        _ => format!(
            "{numbers} INSERT INTO courses (id, user_id, slug, title, created_at) SELECT {new}, u.id, 'many-' || n, '', \
             '2025-01-01 00:00:00' FROM numbers JOIN users u ON u.id IN ('{first}', '{second}', '{third}'); \
             INSERT INTO lessons (id, course_id, title) SELECT {new}, id, '' FROM courses"
        ),
    }
}

/// If the index is missing, `doctor` names the slow requests, and `doctor` and the startup log suggest the index.
#[test]
fn example_indexes_prevent_scans_and_sorts() {
    for app in FRAMEWORKS.into_iter().flat_map(App::of) {
        app.sql(&statements(&app, &rows(&app)));
        app.sql(&many(&app));
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
        let mut server = app.command("serve --listen 127.0.0.1:0");
        let mut server = crate::program::Server::start(server.stderr(std::process::Stdio::piped()));
        server.notes_until(index);
        app.sql(&app.dir.run(&format!("views example --from {} --for {}", app.framework, app.kind())).succeeds());
        assert_eq!(slow(), [""; 0], "{place}");
    }
}

fn apps() -> Vec<App> {
    let apps = App::empty("plain");
    for app in &apps {
        app.sql(if app.is_postgres() { POSTGRES } else { SQLITE });
        app.run("migrate").succeeds();
    }
    apps
}

#[test]
fn each_view_problem_is_reported_with_expected_value() {
    for app in apps() {
        app.sql(ROWS);
        let valid = app.run("views check --json").json();
        assert_eq!(valid, serde_json::json!({ "all": false, "problems": [] }), "{}", app.kind());
        assert!(app.run("views check --all").succeeds().contains("checked all rows"));
        for (change, kind, view, key, word) in PROBLEMS {
            if kind != "both" && kind != app.kind() {
                continue;
            }
            app.sql(change);
            let output = app.run("views check --json");
            assert_eq!((output.status, &*output.err), (Some(1), &*output.err), "{change}");
            assert!(output.err.starts_with("error: the views have problems"), "{}: {change}: {output:?}", app.kind());
            let report: Value = serde_json::from_str(&output.out).unwrap();
            let is_expected = |problem: &&Value| {
                let text = |field: &str| problem[field].as_str().unwrap_or_default().to_owned();
                let words = text("problem") + &text("expected");
                problem["view"] == view
                    && text("key").contains(key)
                    && words.contains(word)
                    && !text("expected").is_empty()
            };
            let problems = report["problems"].as_array().unwrap();
            let problem =
                problems.iter().find(is_expected).unwrap_or_else(|| panic!("{}: {change}: {report}", app.kind()));
            if ["DROP TABLE catalogue_modules", "UPDATE catalogue_courses SET title = NULL WHERE slug = 'two'"]
                .contains(&change)
            {
                // Plain output and `doctor` report it too.
                let text = problem["problem"].as_str().unwrap();
                let lines = app.run("views check").out;
                assert!(lines.lines().any(|line| line.starts_with(view) && line.contains(text)), "{change}: {lines}");
                let doctor = app.run("doctor --json");
                let output = findings(&doctor, "views", "error");
                assert!(doctor.status == Some(1) && output.iter().any(|output| output.contains(text)), "{doctor:?}");
            }
            // Recreates all tables.
            let drop = ["accounts", "courses", "modules"].map(|view| format!("DROP TABLE IF EXISTS catalogue_{view};"));
            app.sql(&drop.concat());
            app.sql(if app.is_postgres() { POSTGRES } else { SQLITE });
            app.sql(ROWS);
        }
    }
}

/// Rows that `views check` reports are neither returned with wrong values nor silently left out.
#[test]
fn invalid_row_fails_only_responses_that_need_it() {
    for app in apps() {
        app.sql(ROWS);
        let (_, token) = app.key("a");
        let server = app.serve("");
        app.sql("UPDATE catalogue_courses SET title = NULL WHERE slug = 'two'");
        for (path, status) in [("/courses", 500), ("/courses/two", 500), ("/courses/one", 200), ("/me", 200)] {
            assert_eq!(server.get(&format!("/api/v1{path}"), &token).0, status, "{}: {path}", app.kind());
        }
        let (_, body) = server.get("/api/v1/courses", &token);
        assert!(body["error"]["code"] == "internal_error" && !body.to_string().contains("two"), "{body}");
        let displayed = app.run("views show --account a");
        assert!(
            displayed.status == Some(1) && displayed.err.contains("catalogue_courses") && displayed.err.contains("two"),
            "{displayed:?}"
        );
    }
}
