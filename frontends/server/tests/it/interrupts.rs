//! SIGINT, SIGTERM and SIGHUP, at any moment of an import, a backup or a removal: what is said of it is true.

use std::fs;
use std::process::Command;

use rusqlite::Connection;

use crate::failing_writes::shim::{DATABASE, Fault, Shim, contents};
use crate::program::{COURSES, Outcome, TestDir};

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];
/// A WAL may stay as large as that.
const WAL_LIMIT: u64 = 64 << 20;

const SIGHUP: i32 = -1;

/// SIGINT before that write to the file.
fn interrupt(at: u32) -> Fault {
    Fault { at, and_all_later: false, error: -2 }
}

#[test]
fn an_import_that_waits_for_its_input_ends_at_once() {
    for (signal, status) in SIGNALS {
        let dir = TestDir::new();
        for arguments in ["import -", "import - --dry-run"] {
            let import = dir.begin(&mut dir.command(arguments), COURSES);
            import.end_by(signal).fails(status, &["error: interrupted; nothing was imported\n"]);
        }
        assert!(dir.files().is_empty(), "{:?}", dir.files());
        let dir = TestDir::with_courses();
        let import = dir.begin(&mut dir.command("import - --prune"), "{\"type\":\"account\",\"id\":\"a\"}");
        import.end_by(signal).fails(status, &["nothing was imported"]);
        assert_eq!(dir.export(), COURSES);
    }
}

#[test]
fn a_database_that_others_made_meanwhile_stays() {
    let unknown = r#"{"type":"course","account":"nobody","slug":"s","title":"t","language":"en"}"#;
    for (arguments, is_interrupted) in
        [("import -", true), ("import -", false), ("import - --dry-run", true), ("import - --dry-run", false)]
    {
        let dir = TestDir::new();
        let import = dir.begin(&mut dir.command(arguments), unknown);
        dir.run("migrate").succeeds();
        let other = Connection::open(dir.path("catalogue.db")).unwrap();
        other.query_row("SELECT count(*) FROM accounts", [], |row| row.get::<_, u32>(0)).unwrap();
        match is_interrupted {
            true => import.end_by("INT").fails(130, &["nothing was imported"]),
            false => import.finish().fails(1, &["there is no account \"nobody\""]),
        };
        other.execute("INSERT INTO accounts (id, name, email) VALUES ('a', '', '')", []).unwrap();
        drop(other);
        assert!(dir.export().contains(r#""id":"a""#), "{arguments}");
    }
}

/// What a small import writes, it writes from its commit on.
#[test]
fn an_import_that_is_interrupted_during_its_commit_says_that_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    let changed = COURSES.replace("Zwei", "Drei");
    for at in 1.. {
        let dir = TestDir::in_memory();
        dir.write("courses.jsonl", COURSES);
        dir.run("import courses.jsonl").succeeds();
        dir.write("changed.jsonl", &changed);
        let mut import = dir.command("import changed.jsonl");
        shim.put_before(&mut import, interrupt(at), DATABASE, &dir.path("mark"));
        let outcome: Outcome = import.output().unwrap().into();
        let context = format!("{at}: {outcome:?}");
        match outcome.status {
            Some(0) => assert!(outcome.out.contains("1 changed, 2 unchanged") && dir.export() == changed, "{context}"),
            _ => {
                assert_eq!(dir.export(), COURSES, "{context}");
                outcome.fails(130, &["nothing was imported"]);
            }
        }
        if !dir.path("mark").exists() {
            assert!(at > 3, "an import writes");
            return;
        }
    }
}

#[test]
fn a_great_import_that_is_interrupted_leaves_no_great_wal() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.write("courses.jsonl", COURSES);
    dir.run("import courses.jsonl").succeeds();
    let body = "x".repeat(1 << 20);
    let great: String = (0..120)
        .map(|number| {
            let course = format!(r#"{{"type":"course","account":"a","slug":"c{number}","title":"T","language":"en""#);
            format!("{course},\"modules\":[{{\"title\":\"M\",\"content\":\"{body}\"}}]}}\n")
        })
        .collect();
    dir.write("great.jsonl", great);
    // As a server would, it keeps the WAL from being removed.
    let reader = Connection::open(dir.path("catalogue.db")).unwrap();
    let count = || reader.query_row("SELECT count(*) FROM courses", [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count(), 3);
    // Each page of 4 KiB is two writes.
    let beyond_the_limit = (WAL_LIMIT / 4096 * 2 + 1_000) as u32;
    let mut import = dir.command("import great.jsonl");
    shim.put_before(&mut import, interrupt(beyond_the_limit), ".db-wal", &dir.path("mark"));
    Outcome::from(import.output().unwrap()).fails(130, &["interrupted; nothing was imported"]);
    assert!(dir.path("mark").exists(), "the WAL was beyond the limit");
    let wal = fs::metadata(dir.path("catalogue.db-wal")).unwrap().len();
    assert!(wal <= WAL_LIMIT, "{wal}");
    assert_eq!(count(), 3);
}

#[test]
fn a_backup_that_is_interrupted_leaves_nothing() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.write("courses.jsonl", COURSES);
    dir.run("import courses.jsonl").succeeds();
    let database = Connection::open(dir.path("catalogue.db")).unwrap();
    database.execute("UPDATE module_contents SET content = ?1", ["x".repeat(32 << 20)]).unwrap();
    let (before, files) = (contents(&dir.path("catalogue.db")), dir.files());
    let mut ends = Vec::new();
    for (at, error, status) in [(1, -2, 130), (2, -2, 130), (3, SIGHUP, 129), (4, SIGHUP, 129), (5, -2, 130)] {
        let mut backup = dir.command("backup copy.db");
        shim.put_before(&mut backup, Fault { error, ..interrupt(at) }, ".partial", &dir.path("mark"));
        let outcome: Outcome = backup.output().unwrap().into();
        fs::remove_file(dir.path("mark")).unwrap();
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
fn under_nohup_a_backup_outlasts_its_terminal() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::with_courses();
    let mut backup = dir.command("backup copy.db");
    shim.put_before(&mut backup, Fault { error: SIGHUP, ..interrupt(1) }, ".partial", &dir.path("mark"));
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(backup.get_program()).args(backup.get_args());
    shell.current_dir(dir.path("."));
    shell.envs(backup.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Outcome::from(shell.output().unwrap()).succeeds();
    assert!(dir.path("mark").exists() && dir.path("copy.db").exists());
}

#[test]
fn a_removal_that_is_interrupted_says_what_is_left_to_do() {
    let Some(shim) = Shim::shared() else { return };
    let from = TestDir::in_memory();
    from.write("courses.jsonl", COURSES.replace("Zwei", &"x".repeat(8 << 20)));
    from.run("import courses.jsonl").succeeds();
    let mut message = false;
    for at in [1, 100, 200, 300] {
        let dir = TestDir::in_memory();
        fs::copy(from.path("catalogue.db"), dir.path("catalogue.db")).unwrap();
        let mut removal = dir.command("accounts remove b --yes");
        shim.put_before(&mut removal, interrupt(at), ".db-wal", &dir.path("mark"));
        let outcome: Outcome = removal.output().unwrap().into();
        let is_there = dir.run("accounts show b").status == Some(0);
        match outcome.status {
            Some(0) => assert!(!is_there, "{outcome:?}"),
            _ if outcome.err.contains("it is not known whether") => outcome.fails(130, &["`accounts show` finds out"]),
            _ => {
                assert!(!is_there, "{outcome:?}");
                outcome.fails(130, &["interrupted; b was removed, but", "`VACUUM`"]);
                message = true;
            }
        }
    }
    assert!(message, "a signal comes while the file is written anew");
}
