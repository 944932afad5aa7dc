//! Migrations that rebuild a table to change it, as frameworks do on SQLite, and so drop its triggers.

use std::process::Stdio;

use super::app::{App, FRAMEWORKS, Writer};
use super::checks::findings;
use crate::program::Server;

/// Returns the tables behind the views of courses and modules; the last table contains the titles of modules.
fn tables(framework: &str) -> &'static [&'static str] {
    match framework {
        "django" => &["courses_course", "courses_module"],
        "rails" => &["courses", "course_lessons", "lessons"],
        _ => &["courses", "lessons"],
    }
}

/// Rebuilds a table as the framework does, with the steps that the host application must add before and after.
fn rebuild(app: &App, table: &str) {
    let Writer::Sqlite(writer) = app.writer() else { unreachable!() };
    let selected = |sql: &str| -> Vec<String> {
        let mut statement = writer.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
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
    writer.execute_batch(&format!("PRAGMA foreign_keys = OFF; BEGIN; {steps} {}; COMMIT", indexes.join(";"))).unwrap();
    app.sql(&app.dir.run(&format!("views example --from {} --for sqlite", app.framework)).succeeds());
}

#[test]
fn responses_are_fresh_after_a_table_was_rebuilt() {
    for app in FRAMEWORKS.into_iter().flat_map(App::with_rows).filter(|app| !app.is_postgres()) {
        let tables = tables(app.framework);
        let (course_table, module_table) = (tables[0], tables[tables.len() - 1]);
        app.sql(&app.example("revisions"));
        let account = app.run("accounts list --json").json()[0]["id"].as_str().unwrap().to_owned();
        let (_, token) = app.key(&account);
        let server = app.serve("");
        let course = || server.get("/api/v1/courses/knots", &token).1["data"].clone();
        for table in tables {
            let place = format!("{} {table}", app.framework);
            assert!(!app.run("views check").succeeds().contains("catalogue_revisions"), "{place}");
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
            let named = format!(
                "table `{table}` has no trigger for INSERT, UPDATE, DELETE that writes to `catalogue_revisions`"
            );
            let output = app.run("views check").succeeds();
            assert!(output.contains(&named) && output.contains("revisions.sqlite.sql"), "{place}: {output}");
            let warnings = findings(&app.run("doctor --json"), "revisions", "warning");
            assert!(warnings.iter().any(|warning| warning.contains(&named)), "{place}: {warnings:?}");
            let mut starting = app.command("serve --listen 127.0.0.1:0");
            Server::start(starting.stderr(Stdio::piped())).notes_until(&named);

            // Runs the file that the message names.
            app.sql(&app.example("revisions"));
            assert_eq!(findings(&app.run("doctor --json"), "revisions", "warning"), [""; 0], "{place}");
            app.sql(&format!("UPDATE {module_table} SET title = 'Again {table}'"));
            assert_eq!(course()["modules"][0]["title"], format!("Again {table}"));
        }
    }
}
