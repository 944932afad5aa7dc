//! `catalogue import`

use std::fs;

use serde_json::json;

use crate::program::{COURSES, Place};

#[test]
fn a_bad_line_changes_nothing() {
    let place = Place::with_courses();
    let (good, before) = (r#"{"type":"account","id":"c"}"#, place.export());
    for (line, pieces) in [
        ("nonsense", ["not a JSON object", "one object a line"]),
        (r#"{"type":"course","account":"c","slug":"s","titel":"t"}"#, ["titel: unknown field", "`title`"]),
        (r#"{"type":"course","account":"x","slug":"s","title":"t","language":"en"}"#, ["account:", "\"x\""]),
        (good, ["id:", "before this one"]),
    ] {
        place.write("bad.jsonl", format!("{good}\n\n{line}\n"));
        place.run("import bad.jsonl").fails(1, &["bad.jsonl: line 3: ", pieces[0], pieces[1]]);
        place.run("import bad.jsonl --dry-run").fails(1, &["bad.jsonl: line 3: "]);
        place.run_reading(&format!("{good}\n\n{line}"), "import -").fails(1, &["standard input: line 3: "]);
        assert_eq!(place.export(), before, "{line}");
    }
}

#[test]
fn says_what_it_changed() {
    let place = Place::new();
    let first = place.run_reading(COURSES, "import -").succeeds();
    assert_eq!(
        first,
        "accounts: 2 added, 0 changed, 0 unchanged, 0 removed\ncourses: 3 added, 0 changed, 0 unchanged, 0 removed\n"
    );
    let changed = COURSES.replace("Zwei", "Drei").replace("\"name\":\"A\"", "\"name\":\"B\"");
    assert_eq!(
        place.run_reading(&changed, "import - --json").json(),
        json!({
            "dryRun": false,
            "accounts": { "added": 0, "changed": 1, "unchanged": 1, "removed": 0 },
            "courses": { "added": 0, "changed": 1, "unchanged": 2, "removed": 0 },
        })
    );
    assert_eq!(place.export(), changed);
}

#[test]
fn a_replaced_course_keeps_its_creation_time() {
    let place = Place::with_courses();
    let line = r#"{"type":"course","account":"a","slug":"one","title":"New","language":"fr"}"#;
    place.run_reading(line, "import -").succeeds();
    let course = r#""slug":"one","title":"New","tagline":"","language":"fr","createdAt":"2020-01-01T00:00:00Z""#;
    assert!(place.export().contains(course));
}

#[test]
fn pruning_removes_what_is_not_listed_of_listed_accounts() {
    let place = Place::with_courses();
    let text = "{\"type\":\"account\",\"id\":\"a\",\"name\":\"A\"}\n\
                {\"type\":\"course\",\"account\":\"a\",\"slug\":\"neu\",\"title\":\"N\",\"language\":\"de\"}\n\
                {\"type\":\"course\",\"account\":\"b\",\"slug\":\"two\",\"title\":\"N\",\"language\":\"de\"}\n";
    let counts = place.run_reading(text, "import --prune --json -").json();
    assert_eq!(counts["courses"], json!({ "added": 2, "changed": 0, "unchanged": 0, "removed": 2 }));
    let export = place.export();
    assert!(export.contains(r#""account":"b","slug":"one""#) && !export.contains(r#""account":"a","slug":"one""#));
}

#[test]
fn a_dry_run_leaves_no_trace() {
    let place = Place::with_courses();
    place.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\"}");
    let before = place.export();
    let counts = place.run("import none.jsonl --dry-run --prune --json").json();
    assert_eq!((&counts["dryRun"], &counts["courses"]["removed"]), (&json!(true), &json!(2)));
    assert!(place.run("import none.jsonl --dry-run").succeeds().starts_with("dry run"));
    assert_eq!(place.export(), before);

    let place = Place::new();
    place.write("courses.jsonl", COURSES);
    let counts = place.run("import courses.jsonl --dry-run --json").json();
    assert_eq!(counts["courses"]["added"], 3);
    assert_eq!(place.files(), ["courses.jsonl"]);

    place.write("catalogue.db", "");
    place.run("import courses.jsonl --dry-run").succeeds();
    assert_eq!(fs::read(place.path("catalogue.db")).unwrap(), b"");
    assert_eq!(place.files(), ["catalogue.db", "courses.jsonl"]);
    place.run("import courses.jsonl --dry-run --no-migrate").fails(1, &["catalogue.db"]);
}

#[test]
fn a_file_that_cannot_be_read_is_1_and_makes_no_database() {
    let place = Place::new();
    place.run("import missing.jsonl").fails(1, &["missing.jsonl", "name a file of JSON Lines"]);
    place.run("import .").fails(1, &["directory"]);
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn a_failed_import_leaves_no_new_database_behind() {
    let place = Place::new();
    let text = format!("{COURSES}nonsense\n");
    place.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert!(place.files().is_empty(), "{:?}", place.files());

    place.write("catalogue.db", "");
    place.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert!(place.path("catalogue.db").is_file());
    place.run("import - --prune").succeeds();
    place.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert_eq!(place.export(), "");
}

/// What a kill leaves behind while SQLite makes a file: a header, and nothing in it.
#[test]
fn a_database_that_was_never_made_can_be_rehearsed_on() {
    let mut header = [0; 4096];
    header[..24].copy_from_slice(b"SQLite format 3\0\x10\0\x02\x02\0\x40\x20\x20");
    for (at, byte) in [(27, 1), (31, 1), (95, 1), (97, 46), (98, 99), (99, 1), (100, 13), (105, 16)] {
        header[at] = byte;
    }
    let place = Place::new();
    place.write("catalogue.db", header);
    place.write("courses.jsonl", COURSES);
    assert_eq!(place.run("import courses.jsonl --dry-run --json").json()["courses"]["added"], 3);
    assert_eq!(fs::read(place.path("catalogue.db")).unwrap(), header);
    place.run("import courses.jsonl --dry-run --no-migrate").fails(1, &["catalogue.db", "migrate"]);
    place.run("import courses.jsonl").succeeds();
    assert_eq!(place.export(), COURSES);
}

#[test]
fn an_import_that_waits_for_its_input_hinders_nobody() {
    let place = Place::with_courses();
    let _import = place.begin_import("");
    place.run("keys create --account a --name n --scope read:courses").succeeds();
}

#[test]
fn tells_what_is_wrong_with_a_whole_file() {
    let place = Place::new();
    for (text, piece) in [
        (format!("\u{feff}{COURSES}").into_bytes(), "line 1: starts with a byte order mark; save it as UTF-8"),
        (COURSES.encode_utf16().flat_map(u16::to_le_bytes).collect(), "line 1: UTF-16"),
        (b"{\n  \"type\": \"account\",\n  \"id\": \"a\"\n}\n".to_vec(), "each object on a line of its own"),
    ] {
        place.write("f.jsonl", text);
        place.run("import f.jsonl").fails(1, &["f.jsonl: ", piece]);
    }
}

#[test]
fn something_else_than_a_database_is_1_and_stays() {
    let place = Place::new();
    let text = "not a database, but something that somebody wants to keep\n".repeat(100);
    place.write("catalogue.db", &text);
    for arguments in ["import -", "import - --dry-run", "export", "migrate", "serve --listen 127.0.0.1:0"] {
        place.run(arguments).fails(1, &["catalogue.db"]);
    }
    assert_eq!(fs::read_to_string(place.path("catalogue.db")).unwrap(), text);
}

#[test]
fn an_empty_input_is_an_import_of_nothing() {
    let place = Place::new();
    place.run_reading("\n \r\n\n", "import - --prune").succeeds();
    assert_eq!(place.export(), "");
}
