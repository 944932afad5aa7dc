//! Commands with `--courses views`: output, refused commands and conflicting options.

use super::app::{App, FRAMEWORKS};
use super::checks::findings;
use crate::equal_servers::comparable_response;
use crate::program::TestDir;

/// Only the application that owns the courses may change them.
#[test]
fn commands_that_write_or_copy_courses_are_refused() {
    for app in App::with_rows("rails") {
        app.dir.write("courses.jsonl", crate::program::COURSES);
        for command in ["import courses.jsonl", "import --dry-run -", "import --prune courses.jsonl", "export"] {
            app.run(command).fails(1, &["with --courses views, use the application that owns the courses"]);
        }
        for command in ["accounts remove 1", "accounts remove 1 --yes"] {
            app.run(command).fails(1, &["`accounts remove` needs courses in the catalogue's own tables"]);
        }
        assert_eq!(app.run("accounts show 1 --json").json()["courses"], 3);
    }
}

#[test]
fn views_show_prints_first_page_of_api() {
    for app in App::all_with_rows() {
        let account = app.accounts().remove(0);
        let (_, token) = app.key(&account);
        let server = app.serve("");
        let response = comparable_response(&server.address, "/api/v1/courses", &token);
        let body = response.split_once("\n\n").unwrap().1;
        let displayed = app.run(&format!("views show --account {account} --json"));
        assert_eq!(displayed.succeeds().trim_end(), body, "{}", app.kind());
        app.run("views show --account nobody").fails(1, &["no account \"nobody\""]);
    }
}

/// Both commands read only the views.
#[test]
fn views_are_checked_and_shown_before_keys_exist() {
    for app in FRAMEWORKS.into_iter().flat_map(App::without_keys) {
        app.sql(&std::fs::read_to_string(App::folder(app.framework).join("rows.sql")).unwrap());
        assert!(app.run("views check --all").succeeds().contains("checked all rows"), "{}", app.kind());
        let account = if app.framework == "laravel" { "0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f" } else { "1" };
        let page = app.run(&format!("views show --account {account}")).json();
        assert_eq!(page["data"].as_array().unwrap().len(), 3, "{}", app.kind());
        app.run("views show --account nobody").fails(1, &["no account \"nobody\" in the view catalogue_accounts"]);
        app.run("keys list").fails(1, &["`migrate`"]);
        app.sql("DROP VIEW catalogue_modules");
        let output = app.run("views check");
        assert!(output.status == Some(1) && output.out.starts_with("catalogue_modules: "), "{output:?}");
        assert!(!app.path("catalogue.db").exists());
    }
}

/// Conflicts are errors even if the catalogue's own database is valid.
#[test]
fn conflicting_options_exit_2_with_hint() {
    let dir = TestDir::with_courses();
    let postgres = "--database postgres://db/catalogue";
    for (options, pieces) in [
        ("--courses elsewhere", &["--courses: invalid value \"elsewhere\"", "tables or views"][..]),
        ("--courses views", &["--courses: ", "--courses-database sqlite:PATH"]),
        (
            "--courses views --database sqlite::memory: --courses-database sqlite:a.db",
            &["--courses: ", "keys need --database sqlite:PATH"],
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
fn views_example_matches_the_chosen_database() {
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

/// Users without a framework edit the names of the example. The unedited example fits the tables that this test creates.
#[test]
fn plain_example_is_valid_sql() {
    for app in App::empty("plain") {
        let time = if app.is_postgres() { "timestamptz" } else { "TEXT" };
        app.sql(&format!(
            "CREATE TABLE accounts (id integer, name text);
             CREATE TABLE courses (id integer, account_id integer, slug varchar(50), title text, tagline text, language text,
                                   created_at {time}, published_at {time}, hidden boolean, access_mode text);
             CREATE TABLE modules (id integer, course_id integer, position integer, title text, summary text);
             INSERT INTO accounts VALUES (7, NULL);
             INSERT INTO courses VALUES (1, 7, 'one', 'One', NULL, 'en', '2025-01-01 00:00:00', NULL, FALSE, NULL);
             INSERT INTO modules VALUES (1, 1, 10, 'First', NULL);"
        ));
        let example = app.views_example();
        app.sql(&example);
        app.run("migrate").succeeds();
        app.run("views check --all").succeeds();
        app.sql(&app.revisions_example());
        assert!(!app.run("views check").succeeds().contains("trigger"), "{}", app.kind());
        let (_, token) = app.key("7");
        let server = app.serve("");
        assert_eq!(server.get("/api/v1/courses/one", &token).0, 200);
        // The example can be run again after each edit, even under a running server.
        app.sql(&example);
        for path in ["/courses", "/courses/one", "/me"] {
            assert_eq!(server.get(&format!("/api/v1{path}"), &token).0, 200, "{}: {path}", app.kind());
        }
        let page = app.run("views show --account 7 --json").json();
        assert_eq!((&page["data"][0]["slug"], &page["data"][0]["moduleCount"]), (&"one".into(), &1.into()));
    }
}

#[test]
fn doctor_checks_journal_mode_of_application_file() {
    let app = App::with_rows("django").remove(0);
    let journals = |options: &str| {
        let doctor = app.run(&format!("doctor --json {options}"));
        ["ok", "warning"].map(|verdict| findings(&doctor, "journal", verdict))
    };
    let keys = "the database is in WAL mode";
    let waiting = "app.db is not in WAL mode, so reads wait for the program's writes; run in the database: PRAGMA journal_mode = wal;";
    assert_eq!(journals(""), [vec![keys], vec![waiting]]);
    let (_, command) = waiting.split_once("run in the database: ").unwrap();
    app.sql(command);
    assert_eq!(journals(""), [vec!["app.db is in WAL mode", keys], vec![]]);
}

/// PostgreSQL: `--courses-schema` and `--database-schema`; SQLite: another file for the keys.
#[test]
fn separate_schemas_and_key_file_are_supported() {
    for app in App::empty("django") {
        let example = app.views_example();
        let rows = std::fs::read_to_string(App::folder("django").join("rows.sql")).unwrap();
        let (start, options) = match app.is_postgres() {
            true => ("CREATE SCHEMA app; SET search_path = app;", "--courses-schema app --database-schema keys"),
            false => ("", "--database sqlite:keys.db"),
        };
        app.sql(&[start, &app.example("tables"), &example, &rows].concat());
        let output = app.run(&format!("migrate {options}")).succeeds();
        let created =
            if app.is_postgres() { "for keys in schema keys: version" } else { "keys.db: created the tables for keys" };
        assert!(output.contains(created), "{output}");
        let create = format!("keys create --account 1 --name n --scope read:courses {options}");
        let token = app.run(&create).succeeds();
        assert_eq!(app.serve(options).get("/api/v1/courses/knots", token.trim_end()).0, 200, "{}", app.kind());
        if !app.is_postgres() {
            let refused = app.run("migrate --database sqlite:app.db");
            refused.fails(1, &["app.db", "use a new file for the keys"]);
        }
    }
}

#[test]
fn missing_views_database_exits_1_and_is_not_created() {
    let dir = TestDir::new();
    for path in ["typo.db", "typo/app.db"] {
        for command in ["migrate", "keys list", "views check"] {
            let output = dir.run(&format!("{command} --courses views --courses-database sqlite:{path}"));
            assert!(!output.err.contains("make") && !output.err.contains("create"), "{output:?}");
            output.fails(1, &[path, "correct its address"]);
        }
    }
    assert!(dir.files().is_empty());
}

#[test]
fn new_key_database_is_logged_and_backed_up() {
    let app = App::with_rows("laravel").remove(0);
    std::fs::remove_file(app.dir.path("catalogue.db")).unwrap();
    let (_server, notes) = app.serve_until("created a new database");
    assert!(notes.contains("create a key with `keys create`") && !notes.contains("import"), "{notes}");
    app.run("backup copy.db").succeeds();
    let doctor = app.run("doctor --json");
    assert_eq!((doctor.status, findings(&doctor, "views", "ok").len()), (Some(0), 1), "{doctor:?}");
}
