//! Reports of `catalogue import`: errors, changes and the schema.

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir, many_courses};

on_each_database!(
    dry_run_lists_changes,
    errors_are_reported_with_lines_and_nothing_is_imported,
    prune_lists_removed_courses
);

fn errors_are_reported_with_lines_and_nothing_is_imported(dir: &TestDir) {
    dir.import(COURSES);
    let format_errors = r#"{"type":"account","id":"c"}
{"type":"course","account":"c","slug":"s","title":"t"}
{"type":"course","account":"nobody","slug":"s","title":"t","language":"en"}

nonsense
{"type":"account","id":"c"}
"#;
    let database_errors = format_errors.replace("\"t\"}", "\"t\",\"language\":\"en\"}").replace("nonsense", "");
    // Another connection is writing: errors of the format are reported without a transaction.
    let writer = dir.host();
    writer.run(if dir.is_postgres() { "BEGIN; LOCK TABLE accounts IN SHARE MODE" } else { "BEGIN IMMEDIATE" });
    for (file, text, messages) in [
        ("bad.jsonl", format_errors, ["line 2: language: missing required field", "line 5: not a JSON object"]),
        (
            "wrong.jsonl",
            &database_errors,
            ["line 3: account: no account \"nobody\"", "line 6: id: account \"c\" is already on an earlier line\n"],
        ),
    ] {
        dir.write(file, text);
        let [first, second] = messages.map(|message| format!("\n{file}: {message}"));
        let pieces = [&*format!("error: {file}: found 2 errors; nothing was imported:{first}"), &second];
        for options in ["", " --dry-run", " --prune --json"] {
            let outcome = dir.run(&format!("import {file}{options}"));
            assert_eq!(outcome.err.lines().count(), 3, "{}", outcome.err);
            outcome.fails(1, &pieces);
        }
        if file == "bad.jsonl" {
            writer.run("ROLLBACK");
        }
    }

    // A single error has no heading.
    let unknown_field = r#"{"type":"course","account":"c","slug":"s","titel":"t"}"#;
    dir.write("one.jsonl", format!("{{\"type\":\"account\",\"id\":\"c\"}}\n\n{unknown_field}\n"));
    for arguments in ["import one.jsonl", "import one.jsonl --dry-run"] {
        dir.run(arguments).fails(1, &["error: one.jsonl: line 3: titel: unknown field", "`title`"]);
    }
    for line in ["nonsense", r#"{"type":"course","account":"nobody","slug":"s","title":"t","language":"en"}"#] {
        let outcome = dir.run_reading(format!("{line}\n").repeat(30), "import -");
        assert!(outcome.err.contains("\nstandard input: line 20: ") && !outcome.err.contains("line 21"), "{outcome:?}");
        outcome.fails(1, &["standard input: found 20 errors, then stopped checking; nothing was imported"]);
    }
    assert_eq!(dir.export(), COURSES);
}

fn dry_run_lists_changes(dir: &TestDir) {
    dir.import(COURSES);
    let text = r#"{"type":"account","id":"a","name":"New"}
{"type":"account","id":"c"}
{"type":"course","account":"a","slug":"new","title":"T","language":"en"}
{"type":"course","account":"b","slug":"one","title":"New","language":"en"}
"#;
    dir.write("new.jsonl", text);
    let message = dir.run("import new.jsonl --dry-run --prune").succeeds();
    let (heading, rest) = message.split_once('\n').unwrap();
    assert!(heading.starts_with(&format!("dry run on {} in ", dir.database_name())), "{message}");
    assert!(heading.ends_with(" s, nothing was changed; this would change:"), "{message}");
    let expected = "accounts added:\n  c\naccounts changed:\n  a\n\
                    courses added:\n  a/new\ncourses changed:\n  b/one\ncourses removed:\n  a/one\n  a/zwei\n\
                    accounts: 1 added, 1 changed, 0 unchanged, 0 removed\n\
                    courses: 1 added, 1 changed, 0 unchanged, 2 removed\n";
    assert_eq!(rest, expected);
    let course = |change: &str, account: &str, slug: &str| json!({ "type": "course", "change": change, "account": account, "slug": slug });
    let changes = json!([
        { "type": "account", "change": "changed", "account": "a" },
        { "type": "account", "change": "added", "account": "c" },
        course("added", "a", "new"),
        course("changed", "b", "one"),
        course("removed", "a", "one"),
        course("removed", "a", "zwei"),
    ]);
    assert_eq!(dir.run("import new.jsonl --dry-run --prune --json").json()["changes"], changes);
    dir.write("same.jsonl", COURSES);
    let message = dir.run("import same.jsonl --dry-run --prune").succeeds();
    assert!(message.lines().next().unwrap().ends_with(" s: nothing would change"), "{message}");
    assert!(message.contains("\naccounts: 0 added, 0 changed, 2 unchanged"), "{message}");
    assert_eq!(dir.export(), COURSES);
}

fn prune_lists_removed_courses(dir: &TestDir) {
    dir.import(COURSES);
    dir.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\",\"name\":\"\\u001b[2J\"}\n");
    let message = dir.run("import none.jsonl --prune").succeeds();
    assert!(message.contains(" s:\ncourses removed:\n  a/one\n  a/zwei\naccounts: 0 added, 1 changed"), "{message}");
    dir.write("courses.jsonl", COURSES);
    let output = dir.run("import courses.jsonl --json").json();
    assert_eq!(output["changes"], Value::Null, "an import without `--prune` lists no changes");
    let output = dir.run("import none.jsonl --prune --json").json();
    assert_eq!(output["changes"][1]["slug"], "zwei");
    assert_eq!(output["changes"].as_array().unwrap().len(), 2);
}

#[test]
fn text_lists_20_changes_and_json_all() {
    let dir = TestDir::new();
    dir.write("many.jsonl", many_courses(25, 1));
    let message = dir.run("import many.jsonl --dry-run").succeeds();
    assert!(message.contains("\n  a/c00\n") && message.contains("\n  a/c19\n  and 5 more\naccounts: "), "{message}");
    let output = dir.run("import many.jsonl --dry-run --json").json();
    assert_eq!(output["changes"].as_array().unwrap().len(), 26);
}

#[test]
fn schema_is_printed_without_database() {
    let dir = TestDir::new();
    let schema = dir.run("import --schema").json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(dir.files().is_empty(), "{:?}", dir.files());
    dir.run("import --schema f.jsonl").fails(2, &["--schema"]);
    dir.run("import").fails(2, &["<FILE>"]);
}
