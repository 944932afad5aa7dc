//! `catalogue import`

use std::fs;

use serde_json::json;

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir};

on_each_database!(dry_run_changes_nothing, import_reports_changes);

fn import_reports_changes(dir: &TestDir) {
    let first = dir.run_reading(COURSES, "import -").succeeds();
    let (heading, counts) = first.split_once('\n').unwrap();
    let start = format!("imported into {} in ", dir.database_name());
    let seconds = heading.strip_prefix(&start).and_then(|rest| rest.strip_suffix(" s:"));
    assert!(seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok()), "{first}");
    assert_eq!(
        counts,
        "accounts: 2 added, 0 changed, 0 unchanged, 0 removed\ncourses: 3 added, 0 changed, 0 unchanged, 0 removed\n"
    );
    let changed = COURSES.replace("Zwei", "Drei").replace("\"name\":\"A\"", "\"name\":\"B\"");
    let mut output = dir.run_reading(&changed, "import - --json").json();
    assert!(output.as_object_mut().unwrap().remove("seconds").unwrap().as_f64().is_some_and(|seconds| seconds >= 0.0));
    assert_eq!(
        output,
        json!({
            "dryRun": false,
            "database": dir.database_name(),
            "accounts": { "added": 0, "changed": 1, "unchanged": 1, "removed": 0 },
            "courses": { "added": 0, "changed": 1, "unchanged": 2, "removed": 0 },
        })
    );
    assert_eq!(dir.export(), changed);
}

fn dry_run_changes_nothing(dir: &TestDir) {
    dir.write("courses.jsonl", COURSES);
    let counts = dir.run("import courses.jsonl --dry-run --json").json();
    assert_eq!((&counts["dryRun"], &counts["courses"]["added"]), (&json!(true), &json!(3)));
    assert_eq!(dir.files(), ["courses.jsonl"]);
    dir.run("export")
        .fails(1, if dir.is_postgres() { &["the catalogue's tables do not exist"] } else { &["no database at"] });

    dir.run("import courses.jsonl").succeeds();
    dir.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\"}");
    let counts = dir.run("import none.jsonl --dry-run --prune --json").json();
    assert_eq!((&counts["dryRun"], &counts["courses"]["removed"]), (&json!(true), &json!(2)));
    assert!(dir.run("import none.jsonl --dry-run").succeeds().starts_with("dry run"));
    assert_eq!(dir.export(), COURSES);
}

#[test]
fn unreadable_file_exits_1_and_creates_no_database() {
    let dir = TestDir::new();
    dir.run("import missing.jsonl").fails(1, &["cannot read missing.jsonl: ", "; pass a JSON Lines file"]);
    dir.run("import .").fails(1, &[". is a directory; pass a JSON Lines file"]);
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

#[test]
fn failed_import_leaves_no_new_database() {
    let dir = TestDir::new();
    let text = format!("{COURSES}nonsense\n");
    dir.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert!(dir.files().is_empty(), "{:?}", dir.files());

    dir.write("catalogue.db", "");
    dir.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert!(dir.path("catalogue.db").is_file());
    dir.run("import - --prune").succeeds();
    dir.run_reading(&text, "import -").fails(1, &["line 6"]);
    assert_eq!(dir.export(), "");

    // Unknown accounts are detected only after the database was created. It stays, since another process may have opened it.
    let dir = TestDir::new();
    dir.run_reading(COURSES.replace(r#""id":"b""#, r#""id":"c""#), "import -").fails(1, &["no account \"b\""]);
    assert_eq!(dir.export(), "");
}

/// A process that is killed while SQLite creates the file leaves a header and no tables.
#[test]
fn dry_run_accepts_file_without_tables() {
    let mut header = [0; 4096];
    header[..24].copy_from_slice(b"SQLite format 3\0\x10\0\x02\x02\0\x40\x20\x20");
    for (at, byte) in [(27, 1), (31, 1), (95, 1), (97, 46), (98, 99), (99, 1), (100, 13), (105, 16)] {
        header[at] = byte;
    }
    for file in [&[][..], &header] {
        let dir = TestDir::new();
        dir.write("catalogue.db", file);
        dir.write("courses.jsonl", COURSES);
        assert_eq!(dir.run("import courses.jsonl --dry-run --json").json()["courses"]["added"], 3);
        assert_eq!(fs::read(dir.path("catalogue.db")).unwrap(), file);
        if file.is_empty() {
            assert_eq!(dir.files(), ["catalogue.db", "courses.jsonl"]);
        }
        dir.run("import courses.jsonl --dry-run --no-migrate").fails(1, &["catalogue.db", "migrate"]);
        dir.run("import courses.jsonl").succeeds();
        assert_eq!(dir.export(), COURSES);
    }
}

#[test]
fn import_waiting_for_input_does_not_block_writers() {
    let dir = TestDir::with_courses();
    for arguments in ["import -", "import - --prune", "import - --dry-run"] {
        let import = dir.start_reading(&mut dir.command(arguments), &COURSES.replace("Zwei", arguments));
        let (key, _) = dir.key("a");
        dir.run(&format!("keys rotate {key} --overlap 1h")).succeeds();
        dir.run(&format!("keys revoke {key}")).succeeds();
        assert!(import.finish().succeeds().ends_with("courses: 0 added, 1 changed, 2 unchanged, 0 removed\n"));
        assert_eq!(dir.export().contains(arguments), !arguments.contains("dry"));
    }
}

/// Input that cannot be read twice is copied. Other users cannot read the copy, and a killed import leaves none.
#[cfg(target_os = "linux")]
#[test]
fn copy_of_stream_is_private_and_unlinked() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = TestDir::with_courses();
    fs::create_dir(dir.path("tmp")).unwrap();
    let import = dir.start_reading(dir.command("import -").env("TMPDIR", dir.path("tmp")), COURSES);
    let is_empty = || fs::read_dir(dir.path("tmp")).unwrap().next().is_none();
    assert!(is_empty());
    let open = fs::read_dir(format!("/proc/{}/fd", import.id())).unwrap();
    let copies: Vec<_> = open
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read_link(path).is_ok_and(|target| target.starts_with(dir.path("tmp"))))
        .map(|path| fs::metadata(path).unwrap())
        .collect();
    let [copy] = &copies[..] else { panic!("{copies:?}") };
    assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    assert!(copy.len() >= COURSES.len() as u64);
    drop(import);
    assert!(is_empty());
}

#[cfg(unix)]
#[test]
fn uncopyable_stream_exits_1() {
    let dir = TestDir::with_courses();
    dir.write("courses.jsonl", COURSES);
    let nowhere = [("TMPDIR", "no/such")];
    let pieces = ["standard input: cannot copy the input to no/such", "set TMPDIR"];
    dir.run_in(&nowhere, "import -").fails(1, &pieces);
    dir.run_in(&nowhere, "import courses.jsonl").succeeds();
}

#[test]
fn wrong_encoding_and_format_are_explained() {
    let dir = TestDir::new();
    let wide: Vec<_> = COURSES.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (text, piece) in [
        (format!("{COURSES}\u{feff}{COURSES}").into_bytes(), "line 6: starts with a byte order mark; save it as UTF-8"),
        ([COURSES.as_bytes(), &wide].concat(), "line 6: contains a NUL byte (UTF-16, or not text)"),
        ([&wide[..], b"\xff"].concat(), "line 6: invalid UTF-8 at byte 1"),
        (b"{\n  \"type\": \"account\",\n  \"id\": \"a\"\n}\n".to_vec(), "put each object on its own line"),
    ] {
        dir.write("f.jsonl", text);
        dir.run("import f.jsonl").fails(1, &["f.jsonl: ", piece]);
    }
}

#[test]
fn non_database_file_exits_1_and_is_not_modified() {
    let dir = TestDir::new();
    let text = "not a database, but a file that the operator wants to keep\n".repeat(100);
    dir.write("catalogue.db", &text);
    for arguments in ["import -", "import - --dry-run", "export", "migrate", "serve --listen 127.0.0.1:0"] {
        dir.run(arguments).fails(1, &["catalogue.db"]);
    }
    assert_eq!(fs::read_to_string(dir.path("catalogue.db")).unwrap(), text);
}

#[test]
fn empty_input_imports_nothing() {
    let dir = TestDir::new();
    let message = dir.run_reading("\n \r\n\n", "import - --prune").succeeds();
    let sentence =
        "standard input contains no accounts and no courses: nothing was imported into sqlite:catalogue.db\n";
    assert!(message.starts_with(&format!("{sentence}accounts: 0 added, ")), "{message}");
    assert_eq!(dir.export(), "");
}

#[test]
#[cfg(unix)]
fn database_behind_symbolic_links_is_not_world_readable() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let dir = TestDir::new();
    dir.write("courses.jsonl", COURSES);
    fs::create_dir(dir.path("data")).unwrap();
    symlink("data/other", dir.path("catalogue.db")).unwrap();
    symlink("catalogue", dir.path("data/other")).unwrap();
    dir.run("import courses.jsonl").succeeds();
    let mode = fs::metadata(dir.path("data/catalogue")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(dir.export(), COURSES);
}
