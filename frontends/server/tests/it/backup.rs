//! `catalogue backup`

use std::fs;

use crate::databases::Host;
use crate::program::{COURSES, TestDir};

#[test]
fn backup_is_complete_database() {
    let dir = TestDir::with_courses();
    let (key, _) = dir.key("a");
    let _server = dir.serve("");
    let message = dir.run("backup copy.db --json").json();
    assert_eq!((&message["database"], &message["file"]), (&"sqlite:catalogue.db".into(), &"copy.db".into()));
    assert_eq!(message["bytes"], fs::metadata(dir.path("copy.db")).unwrap().len());
    assert!(message["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0), "{message}");
    assert_eq!(Host::sqlite(&dir.path("copy.db")).texts("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(dir.run("export --database sqlite:copy.db").succeeds(), COURSES);
    let list = "keys list --account a --json";
    let listed = dir.run(&format!("{list} --database sqlite:copy.db")).json();
    assert_eq!((&listed[0]["id"], &listed), (&key.into(), &dir.run(list).json()));
    let text = dir.run("backup second.db").succeeds();
    assert!(text.starts_with("sqlite:catalogue.db was copied to second.db: ") && text.ends_with(" s\n"), "{text}");
}

#[test]
fn failed_backup_leaves_files_unchanged() {
    let dir = TestDir::with_courses();
    dir.write("there", "kept");
    dir.write("empty.db", "");
    let files = dir.files();
    dir.run("backup there").fails(1, &["there: already exists; use another file"]);
    dir.run("backup .").fails(1, &["already exists"]);
    dir.run("backup no/such/copy.db").fails(1, &["no/such/copy.db: its directory does not exist; create it first"]);
    dir.run("backup there/copy.db").fails(1, &["its directory does not exist"]);
    #[cfg(target_os = "linux")]
    dir.run("backup /proc/copy.db").fails(1, &["/proc/copy.db: cannot be written: "]);
    dir.run("backup copy.db --database sqlite:missing.db").fails(1, &["no database at \"missing.db\""]);
    dir.run("backup copy.db --database sqlite:courses.jsonl")
        .fails(1, &["\"courses.jsonl\" is not an SQLite database"]);
    dir.run("backup copy.db --database sqlite:empty.db")
        .fails(1, &["copy.db: cannot copy the database: ", "has no tables"]);
    dir.run("backup copy.db --database sqlite::memory:").fails(2, &["nothing to copy", "sqlite:catalogue.db"]);
    dir.run("backup").fails(2, &["<FILE>"]);
    assert_eq!((dir.files(), &*fs::read_to_string(dir.path("there")).unwrap()), (files, "kept"));
}

#[test]
fn postgres_backup_exits_2_and_suggests_pg_dump() {
    let dir = TestDir::new();
    let outcome = dir.run("backup copy.db --database postgres://u:s3cret@127.0.0.1:1/n");
    assert!(!outcome.err.contains("s3cret"), "{}", outcome.err);
    outcome.fails(2, &["postgres://127.0.0.1:1/n", "pg_dump"]);
    assert!(dir.files().is_empty(), "{:?}", dir.files());
}

#[cfg(unix)]
#[test]
fn backup_has_file_mode_of_database() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = TestDir::with_courses();
    for mode in [0o640, 0o600, 0o664, 0o440] {
        dir.set_mode("catalogue.db", mode);
        let name = format!("{mode:o}.db");
        dir.run(&format!("backup {name}")).succeeds();
        assert_eq!(fs::metadata(dir.path(&name)).unwrap().permissions().mode() & 0o7777, mode);
    }
}
