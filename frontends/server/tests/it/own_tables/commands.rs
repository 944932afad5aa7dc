//! What commands do over another program's tables, and what they refuse.

use super::app::{App, FRAMEWORKS};
use super::checks::findings;
use crate::postgres::fixture::whole_answer;
use crate::program::TestDir;

/// What belongs to another program is left to it.
#[test]
fn what_would_change_or_copy_courses_is_refused() {
    for app in App::with_rows("rails") {
        app.dir.write("courses.jsonl", crate::program::COURSES);
        for command in ["import courses.jsonl", "import --dry-run -", "import --prune courses.jsonl", "export"] {
            app.run(command).fails(1, &["with --courses views they belong to another one: do it there"]);
        }
        for command in ["accounts remove 1", "accounts remove 1 --yes"] {
            app.run(command).fails(1, &["`accounts remove` is for courses in tables of this program"]);
        }
        assert_eq!(app.run("accounts show 1 --json").json()["courses"], 3);
    }
}

#[test]
fn accounts_are_those_of_the_view() {
    for app in App::with_rows("django") {
        app.key("1");
        let accounts = app.run("accounts list --json").json();
        let ids: Vec<_> = accounts.as_array().unwrap().iter().map(|account| account["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["1", "2"], "{}: the third is not active", app.kind());
        assert_eq!((&accounts[0]["courses"], &accounts[0]["keys"]), (&3.into(), &1.into()));
    }
}

#[test]
fn the_first_page_is_shown_as_the_api_answers_it() {
    for app in FRAMEWORKS.into_iter().flat_map(App::with_rows) {
        let accounts = app.run("accounts list --json").json();
        let account = accounts[0]["id"].as_str().unwrap();
        let (_, token) = app.key(account);
        let server = app.serve("");
        let answer_count = whole_answer(&server.address, "/api/v1/courses", &token);
        let body = answer_count.split_once("\n\n").unwrap().1;
        let displayed = app.run(&format!("views show --account {account} --json"));
        assert_eq!(displayed.succeeds().trim_end(), body, "{}", app.kind());
        app.run("views show --account nobody").fails(1, &["no account \"nobody\""]);
    }
}

/// Not even with a sound database of ours beside it.
#[test]
fn settings_that_do_not_go_together_say_what_is_right() {
    let dir = TestDir::with_courses();
    let postgres = "--database postgres://db/catalogue";
    for (options, pieces) in [
        ("--courses elsewhere", &["--courses: \"elsewhere\"", "tables or views"][..]),
        ("--courses views", &["--courses: ", "--courses-database sqlite:PATH"]),
        (
            "--courses views --database sqlite::memory: --courses-database sqlite:a.db",
            &["--courses: ", "--database sqlite:PATH for keys"],
        ),
        ("--courses-database sqlite:app.db", &["--courses-database: ", "--courses views"]),
        ("--courses views --courses-database postgres://u:s3cret@h/n", &["--courses-database: ", "sqlite:PATH"]),
        (
            "--courses views --courses-database sqlite:a.db --courses-schema app",
            &["--courses-schema: SQLite has no schemas"],
        ),
        ("--database-schema catalogue", &["--database-schema: SQLite has no schemas"]),
        (
            &format!("{postgres} --courses views --courses-database sqlite:a.db"),
            &["--courses-database: ", "--courses-schema"],
        ),
        (&format!("{postgres} --courses-schema app"), &["--courses-schema: ", "--courses views"]),
    ] {
        for command in
            ["keys list", "doctor", "serve", "migrate", "accounts list", "views check", "config check", "export"]
        {
            let output = dir.run(&format!("{command} {options}"));
            assert!(!output.err.contains("s3cret"), "{output:?}");
            output.fails(2, pieces);
        }
    }
    dir.run("views check").fails(2, &["--courses views"]);
    dir.run("demo --courses views").fails(2, &["--courses: ", "sample courses"]);
    assert_eq!(dir.files(), ["catalogue.db", "courses.jsonl"]);
}

#[test]
fn examples_are_for_the_database_that_is_named() {
    let dir = TestDir::new();
    for from in FRAMEWORKS.into_iter().chain(["plain"]) {
        let example = |options: &str| dir.run(&format!("views example --from {from} {options}")).succeeds();
        let [sqlite, postgres] = ["--for sqlite", "--for postgres"].map(example);
        assert!(sqlite.contains("sqlite3 -bail ") && postgres.contains("psql --set ON_ERROR_STOP=1 "), "{from}");
        assert!(
            sqlite.contains("    c.created_at, ") && postgres.contains("CREATE INDEX IF NOT EXISTS catalogue_list "),
            "{from}"
        );
        assert_eq!((example(""), example("--database postgres://db/c")), (sqlite, postgres), "{from}");
    }
    dir.run("views example --from spring").fails(2, &["spring", "plain"]);
    dir.run("views example").fails(2, &["--from"]);
    assert!(dir.files().is_empty());
}

/// Whoever has no framework edits the names; as they stand they fit these tables.
#[test]
fn the_plain_example_is_sound_sql() {
    for app in App::empty("plain") {
        let time = if app.is_postgres() { "timestamptz" } else { "TEXT" };
        app.sql(&format!(
            "CREATE TABLE accounts (id integer);
             CREATE TABLE courses (id integer, account_id integer, slug varchar(50), title text, tagline text, language text,
                                   created_at {time}, published_at {time}, hidden boolean, access_mode text);
             CREATE TABLE modules (id integer, course_id integer, position integer, title text, summary text);
             INSERT INTO accounts VALUES (7);
             INSERT INTO courses VALUES (1, 7, 'one', 'One', NULL, 'en', '2025-01-01 00:00:00', NULL, FALSE, NULL);
             INSERT INTO modules VALUES (1, 1, 10, 'First', NULL);"
        ));
        let example = app.dir.run(&format!("views example --from plain --for {}", app.kind())).succeeds();
        app.sql(&example);
        app.run("migrate").succeeds();
        app.run("views check --all").succeeds();
        let (_, token) = app.key("7");
        let server = app.serve("");
        assert_eq!(server.get("/api/v1/courses/one", &token).0, 200);
        // It can be run again after each edit, also while it is served.
        app.sql(&example);
        for path in ["/courses", "/courses/one", "/me"] {
            assert_eq!(server.get(&format!("/api/v1{path}"), &token).0, 200, "{}: {path}", app.kind());
        }
        let page = app.run("views show --account 7 --json").json();
        assert_eq!((&page["data"][0]["slug"], &page["data"][0]["moduleCount"]), (&"one".into(), &1.into()));
    }
}

/// What serves or makes keys says so at once, and `views check` all of it.
#[test]
fn views_and_columns_that_are_missing_are_told_at_the_start() {
    for app in App::empty("django") {
        app.sql(&app.example("tables"));
        app.run("migrate").succeeds();
        let refuses = |pieces: &[&str]| {
            for command in ["serve --listen 127.0.0.1:0", "keys list"] {
                app.run(command).fails(1, &[&["the courses cannot be read: "], pieces].concat());
            }
        };
        refuses(&[
            "catalogue_accounts: ",
            "; make it with the columns id",
            "catalogue_modules: ",
            "course_slug, number",
        ]);
        app.sql(&app.dir.run(&format!("views example --from django --for {}", app.kind())).succeeds());
        app.run("keys list").succeeds();
        app.sql("DROP VIEW catalogue_modules; DROP VIEW catalogue_accounts");
        app.sql("CREATE VIEW catalogue_accounts AS SELECT 'a' AS name");
        refuses(&["catalogue_accounts: it has no column `id`", "catalogue_modules: "]);
        let report = app.run("views check --json");
        let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
        assert_eq!(report["faults"].as_array().unwrap().len(), 2, "{report}");
    }
}

#[test]
fn doctor_looks_at_the_journal_of_the_other_programs_file() {
    let app = App::with_rows("django").remove(0);
    let journals = |options: &str| {
        let doctor = app.run(&format!("doctor --json {options}"));
        ["ok", "warning"].map(|verdict| findings(&doctor, "journal", verdict))
    };
    let keys = "the database is in WAL mode";
    let waiting =
        "app.db is not in WAL mode, so readers wait for the program's writes; run in it: PRAGMA journal_mode = wal;";
    assert_eq!(journals(""), [vec![keys], vec![waiting]]);
    let (_, command) = waiting.split_once("run in it: ").unwrap();
    app.sql(command);
    assert_eq!(journals(""), [vec!["app.db is in WAL mode", keys], vec![]]);
}

/// Views and keys are where the options say.
#[test]
fn other_schemas_and_another_file_for_keys_are_taken() {
    for app in App::empty("django") {
        let example = app.dir.run(&format!("views example --from django --for {}", app.kind())).succeeds();
        let rows = std::fs::read_to_string(App::folder("django").join("rows.sql")).unwrap();
        let (start, options) = match app.is_postgres() {
            true => ("CREATE SCHEMA app; SET search_path = app;", "--courses-schema app --database-schema keys"),
            false => ("", "--database sqlite:keys.db"),
        };
        app.sql(&[start, &app.example("tables"), &example, &rows].concat());
        let made = app.run(&format!("migrate {options}")).succeeds();
        assert!(app.is_postgres() || made.contains("keys.db: a new database was made: schema version"), "{made}");
        let create = format!("keys create --account 1 --name n --scope read:courses {options}");
        let token = app.run(&create).succeeds();
        assert_eq!(app.serve(options).get("/api/v1/courses/knots", token.trim_end()).0, 200, "{}", app.kind());
        if !app.is_postgres() {
            let refused = app.run("migrate --database sqlite:app.db");
            refused.fails(1, &["app.db", "keys beside views need a file of their own: name a new one"]);
        }
    }
}

/// A missing database of views is never created.
#[test]
fn a_wrong_address_of_the_views_is_to_be_corrected() {
    let dir = TestDir::new();
    for path in ["typo.db", "typo/app.db"] {
        for command in ["migrate", "keys list", "views check"] {
            let output = dir.run(&format!("{command} --courses views --courses-database sqlite:{path}"));
            assert!(!output.err.contains("makes one") && !output.err.contains("make it"), "{output:?}");
            output.fails(1, &[path, "correct its address"]);
        }
    }
    assert!(dir.files().is_empty());
}

#[test]
fn a_new_place_for_keys_is_told_and_copied() {
    let app = App::with_rows("laravel").remove(0);
    std::fs::remove_file(app.dir.path("catalogue.db")).unwrap();
    let mut server = app.command("serve --listen 127.0.0.1:0");
    let mut server = crate::program::Server::start(server.stderr(std::process::Stdio::piped()));
    let notes = server.notes_until("a new database was made").concat();
    assert!(notes.contains("make a key with `keys create`") && !notes.contains("import"), "{notes}");
    app.run("backup copy.db").succeeds();
    let doctor = app.run("doctor --json");
    assert_eq!((doctor.status, findings(&doctor, "views", "ok").len()), (Some(0), 1), "{doctor:?}");
}
