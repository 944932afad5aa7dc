//! SIGINT, SIGTERM and SIGHUP at any point of an import, a backup or a removal: the command reports what it did.

use std::fs;
use std::process::Command;

use rusqlite::Connection;

use crate::failing_writes::run_failing;
use crate::failing_writes::shim::{DATABASE, Failure, Shim, contents};
use crate::program::{COURSES, Outcome, TestDir, copy_context, many_courses};

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];
/// Maximum size of a WAL after a command.
const WAL_LIMIT: u64 = 64 << 20;
/// Values of [`Failure::error`] that raise SIGHUP and SIGINT: their numbers, negated.
const HUP: i32 = -1;
const INT: i32 = -2;

/// Returns a failure that raises SIGINT before write number `at`, which then succeeds.
fn interrupt(at: u32) -> Failure {
    Failure { at, and_all_later: false, error: INT }
}

#[test]
fn import_waiting_for_input_exits_immediately() {
    for (signal, status) in SIGNALS {
        let dir = TestDir::new();
        for arguments in ["import -", "import - --dry-run"] {
            let import = dir.start_reading(&mut dir.command(arguments), COURSES);
            import.stop_with(signal).fails(status, &["error: interrupted; nothing was imported\n"]);
        }
        assert!(dir.files().is_empty(), "{:?}", dir.files());
        let dir = TestDir::with_courses();
        let import = dir.start_reading(&mut dir.command("import - --prune"), "{\"type\":\"account\",\"id\":\"a\"}");
        import.stop_with(signal).fails(status, &["nothing was imported"]);
        assert_eq!(dir.export(), COURSES);
    }
}

#[test]
fn database_created_by_another_process_is_not_removed() {
    let unknown = r#"{"type":"course","account":"nobody","slug":"s","title":"t","language":"en"}"#;
    for (arguments, is_interrupted) in
        [("import -", true), ("import -", false), ("import - --dry-run", true), ("import - --dry-run", false)]
    {
        let dir = TestDir::new();
        let import = dir.start_reading(&mut dir.command(arguments), unknown);
        dir.run("migrate").succeeds();
        let other = Connection::open(dir.path("catalogue.db")).unwrap();
        other.query_row("SELECT count(*) FROM accounts", [], |row| row.get::<_, u32>(0)).unwrap();
        match is_interrupted {
            true => import.stop_with("INT").fails(130, &["nothing was imported"]),
            false => import.finish().fails(1, &["no account \"nobody\""]),
        };
        other.execute("INSERT INTO accounts (id, name, email) VALUES ('a', '', '')", []).unwrap();
        drop(other);
        assert!(dir.export().contains(r#""id":"a""#), "{arguments}");
    }
}

/// A small import writes only during its commit.
#[test]
fn interrupted_import_reports_result_of_commit() {
    let Some(shim) = Shim::shared() else { return };
    let changed = COURSES.replace("Zwei", "Drei");
    for at in 1.. {
        let dir = TestDir::in_memory();
        dir.import(COURSES);
        dir.write("changed.jsonl", &changed);
        let mut import = dir.command("import changed.jsonl");
        let (outcome, was_interrupted) = run_failing(shim, &dir, &mut import, interrupt(at), DATABASE);
        let context = format!("{at}: {outcome:?}");
        match outcome.status {
            Some(0) => assert!(outcome.out.contains("1 changed, 2 unchanged") && dir.export() == changed, "{context}"),
            _ => {
                assert_eq!(dir.export(), COURSES, "{context}");
                outcome.fails(130, &["nothing was imported"]);
            }
        }
        if !was_interrupted {
            assert!(at > 3, "an import writes");
            return;
        }
    }
}

#[test]
fn interrupted_large_import_truncates_wal() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.import(COURSES);
    dir.write("large.jsonl", many_courses(120, 1 << 20));
    // An open reader, like a server, prevents the removal of the WAL.
    let reader = Connection::open(dir.path("catalogue.db")).unwrap();
    let count = || reader.query_row("SELECT count(*) FROM courses", [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count(), 3);
    // Each 4 KiB page causes two writes.
    let beyond_the_limit = (WAL_LIMIT / 4096 * 2 + 1_000) as u32;
    let mut import = dir.command("import large.jsonl");
    let (outcome, was_interrupted) = run_failing(shim, &dir, &mut import, interrupt(beyond_the_limit), ".db-wal");
    outcome.fails(130, &["interrupted; nothing was imported"]);
    assert!(was_interrupted, "the WAL exceeded the limit");
    let wal = fs::metadata(dir.path("catalogue.db-wal")).unwrap().len();
    assert!(wal <= WAL_LIMIT, "{wal}");
    assert_eq!(count(), 3);
}

#[test]
fn interrupted_backup_leaves_no_file() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.import(COURSES);
    let database = Connection::open(dir.path("catalogue.db")).unwrap();
    database.execute("UPDATE module_contents SET content = ?1", ["x".repeat(32 << 20)]).unwrap();
    let (before, files) = (contents(&dir.path("catalogue.db")), dir.files());
    let mut ends = Vec::new();
    for (at, error, status) in [(1, INT, 130), (2, INT, 130), (3, HUP, 129), (4, HUP, 129), (5, INT, 130)] {
        let (mut backup, failure) = (dir.command("backup copy.db"), Failure { error, ..interrupt(at) });
        let (outcome, was_interrupted) = run_failing(shim, &dir, &mut backup, failure, ".partial");
        assert!(was_interrupted, "{outcome:?}");
        ends.push(outcome.status);
        if outcome.status == Some(0) {
            assert_eq!(contents(&dir.path("copy.db")), before);
            fs::remove_file(dir.path("copy.db")).unwrap();
        } else {
            outcome.fails(status, &["error: interrupted; no copy was made\n"]);
        }
        assert_eq!(dir.files(), files);
    }
    assert!(ends.contains(&Some(130)) && ends.contains(&Some(129)), "{ends:?}");
}

#[test]
fn backup_under_nohup_ignores_sighup() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::with_courses();
    let mut backup = dir.command("backup copy.db");
    shim.preload(&mut backup, Failure { error: HUP, ..interrupt(1) }, ".partial", &dir.path("mark"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(backup.get_program()).args(backup.get_args());
    copy_context(&backup, &mut shell);
    Outcome::from(shell.output().unwrap()).succeeds();
    assert!(dir.path("mark").exists() && dir.path("copy.db").exists());
}

#[test]
fn interrupted_removal_reports_remaining_work() {
    let Some(shim) = Shim::shared() else { return };
    let from = TestDir::in_memory();
    from.import(&COURSES.replace("Zwei", &"x".repeat(8 << 20)));
    let mut interrupted_rewrite = false;
    for at in [1, 100, 200, 300] {
        let dir = TestDir::in_memory();
        fs::copy(from.path("catalogue.db"), dir.path("catalogue.db")).unwrap();
        let mut removal = dir.command("accounts remove b --yes");
        let (outcome, _) = run_failing(shim, &dir, &mut removal, interrupt(at), ".db-wal");
        let exists = dir.run("accounts show b").status == Some(0);
        match outcome.status {
            Some(0) => assert!(!exists, "{outcome:?}"),
            _ if outcome.err.contains("it is not known whether") => {
                outcome.fails(130, &["run `accounts show` to check"]);
            }
            _ => {
                assert!(!exists, "{outcome:?}");
                outcome.fails(130, &["interrupted; b was removed, but", "`VACUUM`"]);
                interrupted_rewrite = true;
            }
        }
    }
    assert!(interrupted_rewrite, "no signal came while the file was rewritten");
}
