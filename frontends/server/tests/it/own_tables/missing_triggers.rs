//! Missing triggers of the examples: commands report them, and responses stay fresh. On SQLite, a migration that rebuilds a table
//! to change it, as frameworks do, drops its triggers.

use super::app::{App, Names};
use super::checks::findings;
use crate::program::Server;

/// Asserts that `views check`, `doctor` and a starting server report the missing trigger, and name the file that creates it.
/// Returns the server.
#[track_caller]
fn assert_reported(app: &App, what: &str) -> Server {
    let checked = app.run("views check").succeeds();
    let warned = findings(&app.run("doctor --json"), "revisions", "warning").concat();
    let file = format!("revisions.{}.sql", app.kind());
    for output in [checked, warned] {
        assert!(output.contains(what) && output.contains(&file), "{}: {output}", app.framework);
    }
    app.serve_until(what).0
}

#[track_caller]
fn assert_not_reported(app: &App) {
    let checked = app.run("views check").succeeds();
    assert!(!checked.contains("trigger"), "{}: {checked}", app.framework);
    assert_eq!(findings(&app.run("doctor --json"), "revisions", "warning"), [""; 0], "{}", app.framework);
}

#[test]
fn responses_are_fresh_after_a_trigger_was_dropped() {
    for app in App::all_with_rows().filter(|app| app.is_postgres()) {
        app.sql(&app.revisions_example());
        assert_not_reported(&app);
        let Names { courses, .. } = app.names();
        app.sql(&format!("DROP TRIGGER catalogue_changed ON {courses}"));
        let what = format!("public.{courses} has no enabled trigger for INSERT, UPDATE, DELETE");
        let server = assert_reported(&app, &what);
        let (_, token) = app.key(&app.accounts()[0]);
        for title in ["first", "second"] {
            app.sql(&format!("UPDATE {courses} SET title = '{title}' WHERE slug = 'knots'"));
            let (_, course) = server.get("/api/v1/courses/knots", &token);
            assert_eq!(course["data"]["title"], title, "{}", app.framework);
        }
        app.sql(&app.revisions_example());
        assert_not_reported(&app);
    }
}

/// Rebuilds a table as the framework does, with the steps that the host application must add before and after.
fn rebuild(app: &App, table: &str) {
    let host = app.host();
    let selected = |sql: &str| host.texts(sql);
    let created =
        selected(&format!("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '{table}'")).remove(0);
    let indexes =
        selected(&format!("SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{table}' AND sql <> ''"));
    let quoted = format!("\"{table}\"");
    let steps = if app.framework == "rails" {
        // Rails creates the table again instead of renaming a new table.
        let temporary = format!("\"a{table}\"");
        format!(
            "CREATE TEMPORARY TABLE {temporary} AS SELECT * FROM {quoted}; DROP TABLE {quoted}; {created};
             INSERT INTO {quoted} SELECT * FROM {temporary}; DROP TABLE {temporary};"
        )
    } else {
        let new = format!("\"{}__{table}\"", if app.framework == "django" { "new" } else { "__temp" });
        // SQLite refuses to rename while a view or a trigger refers to a missing table.
        let drops = selected(&format!(
            "SELECT format('DROP %s %s;', type, name) FROM sqlite_schema WHERE name GLOB 'catalogue_*' AND name <> 'catalogue_changed'
             AND (type = 'view' OR type = 'trigger' AND tbl_name <> '{table}' AND instr(sql, '{table}'))"
        ));
        format!(
            "{} {}; INSERT INTO {new} SELECT * FROM {quoted}; DROP TABLE {quoted}; ALTER TABLE {new} RENAME TO {quoted};",
            drops.concat(),
            created.replacen(&quoted, &new, 1)
        )
    };
    host.run(&format!("PRAGMA foreign_keys = OFF; BEGIN; {steps} {}; COMMIT", indexes.join(";")));
    app.sql(&app.views_example());
}

#[test]
fn responses_are_fresh_after_a_table_was_rebuilt() {
    for app in App::all_with_rows().filter(|app| !app.is_postgres()) {
        let Names { courses: course_table, lessons: module_table, .. } = app.names();
        let between = (app.framework == "rails").then_some("course_lessons");
        app.sql(&app.revisions_example());
        let (_, token) = app.key(&app.accounts()[0]);
        let server = app.serve("");
        let course = || server.get("/api/v1/courses/knots", &token).1["data"].clone();
        for table in [Some(course_table), between, Some(module_table)].into_iter().flatten() {
            let place = format!("{} {table}", app.framework);
            assert_not_reported(&app);
            course();
            rebuild(&app, table);
            for number in 0..3 {
                for (changed, of_course) in [(course_table, true), (module_table, false)] {
                    let title = format!("{changed} {number} after {table}");
                    app.sql(&format!("UPDATE {changed} SET title = '{title}'"));
                    let course = course();
                    assert_eq!(
                        if of_course { &course["title"] } else { &course["modules"][0]["title"] },
                        &title,
                        "{place}"
                    );
                }
            }
            assert_reported(
                &app,
                &format!(
                    "table `{table}` has no trigger for INSERT, UPDATE, DELETE that writes to `catalogue_revisions`"
                ),
            );

            // Runs the file that the message names.
            app.sql(&app.revisions_example());
            assert_not_reported(&app);
            app.sql(&format!("UPDATE {module_table} SET title = 'Again {table}'"));
            assert_eq!(course()["modules"][0]["title"], format!("Again {table}"));
        }
    }
}
