//! What happens to the WAL and to the processes that write it: none of it may hide a commit, or change a response.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use super::fixture::{Fixture, change, sibling};
use super::sql::Sql;
use super::{DETAIL, LIST};
use crate::program::{COURSES, TestDir};

/// Statements of a connection: first, between a commit and the next responses, and after these responses.
type Statements<'s> = (&'s [&'s str], &'s [&'s str], &'s [&'s str]);

/// Asserts that each of 20 commits is in the next response, and that the last statements do not change the responses.
fn assert_commits_are_seen(fixture: &mut Fixture<'_>, name: &str, (first, before, after): Statements<'_>) {
    let mut sql = fixture.sql();
    let mut run = |statement: &&str| {
        let result = sql.run(statement);
        assert!(!statement.contains("wal_checkpoint(") || result.starts_with("0 "), "all is checkpointed: {result}");
    };
    first.iter().for_each(&mut run);
    // All commits have the same size, so the WAL has the same size after each.
    for number in 10..30 {
        let text = format!("{name}, number {number}");
        run(&&*change(&text));
        before.iter().for_each(&mut run);
        fixture.assert_new(&text);
        fixture.assert_not_modified();
        for statement in after {
            run(statement);
            fixture.assert_not_modified();
        }
    }
}

#[test]
fn commits_are_seen_in_wal_mode() {
    let dir = TestDir::in_memory();
    let mut fixture = Fixture::new(&dir);
    for (name, statements) in [
        ("passive checkpoints", (&[][..], &[][..], &["PRAGMA wal_checkpoint(PASSIVE)"][..])),
        ("full checkpoints", (&[], &[], &["PRAGMA wal_checkpoint(FULL)"])),
        ("restarts", (&[], &[], &["PRAGMA wal_checkpoint(RESTART)"])),
        ("truncations after the response", (&[], &[], &["PRAGMA wal_checkpoint(TRUNCATE)"])),
        ("small WAL", (&["PRAGMA journal_size_limit = 0", "PRAGMA wal_autocheckpoint = 1"], &[], &[])),
        (
            "rewrites of the file",
            (&[], &["VACUUM"], &["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "REINDEX", "ANALYZE"]),
        ),
        ("other tables", (&[], &[], &["CREATE TABLE of_the_host (id INTEGER PRIMARY KEY)", "DROP TABLE of_the_host"])),
        ("truncations", (&[], &["PRAGMA wal_checkpoint(TRUNCATE)"], &[])),
    ] {
        assert_commits_are_seen(&mut fixture, name, statements);
    }
    assert_eq!(fs::metadata(sibling(&dir.database(), "-wal")).unwrap().len(), 0);
    // Another reader's old snapshot keeps the WAL from restarting.
    let mut reader_elsewhere = fixture.sql();
    reader_elsewhere.run("BEGIN");
    reader_elsewhere.run("SELECT title FROM courses");
    assert_commits_are_seen(&mut fixture, "old snapshot", (&[], &["PRAGMA wal_checkpoint(PASSIVE)"], &[]));

    let mut sql = fixture.sql();
    sql.run("BEGIN EXCLUSIVE");
    fixture.assert_not_modified();
    sql.run("UPDATE modules SET summary = 'at last'");
    sql.run("COMMIT");
    fixture.assert_new_at(DETAIL, "at last");
}

/// In rollback mode, the default of SQLite, and after the switch to WAL mode.
#[test]
fn commits_are_seen_without_wal() {
    let mut dir = TestDir::in_memory();
    dir.import(COURSES);
    // Created beforehand: a command that writes to the copy would switch it to WAL mode.
    let (_, token) = dir.key("a");
    dir.host().run(&format!("VACUUM INTO '{}'", dir.path("copy.db").display()));
    dir.address = "sqlite:copy.db".to_owned();
    let mut fixture = Fixture::over(&dir, &token, |command| command);
    for mode in ["delete", "truncate", "persist", "memory"] {
        let first = format!("PRAGMA journal_mode = {mode}");
        assert_eq!(fixture.sql().run(&first), mode);
        assert_commits_are_seen(&mut fixture, mode, (&[&first], &[], &[]));
    }
    let mut sql = fixture.sql();
    assert_eq!(sql.run("PRAGMA journal_mode = wal"), "wal");
    fixture.assert_not_modified();
    assert_commits_are_seen(&mut fixture, "wal", (&[], &[], &[]));
    // The servers have the database open, so the switch back fails.
    sql.run("PRAGMA busy_timeout = 0");
    sql.send("PRAGMA journal_mode = delete");
    assert!(sql.result().unwrap_err().contains("locked"));
    fixture.assert_not_modified();
}

/// Length of a WAL index's header, of which the index contains two copies, and offset of the transaction counter in the header.
const HEADER: u64 = 48;
const COUNTER: u64 = 8;

/// Begins a transaction so large that it spills into the WAL before its commit.
fn begin_a_large_transaction(fixture: &Fixture<'_>) -> Sql {
    let mut sql = fixture.sql();
    sql.run("PRAGMA cache_size = 4");
    let wal = sibling(&fixture.dir.database(), "-wal");
    let length = || fs::metadata(&wal).map_or(0, |metadata| metadata.len());
    sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
    sql.run("BEGIN IMMEDIATE");
    sql.run(&change("never committed"));
    for number in 10..60 {
        sql.run(&format!("INSERT INTO modules VALUES ('a', 'one', {number}, 'never committed', hex(zeroblob(2000)))"));
    }
    assert!(length() > 100_000, "nothing of the transaction is in the WAL: {}", length());
    sql
}

#[test]
fn transaction_of_killed_writer_is_never_visible() {
    let dir = TestDir::in_memory();
    let mut fixture = Fixture::new(&dir);
    for number in 0..3 {
        let sql = begin_a_large_transaction(&fixture);
        fixture.assert_not_modified();
        sql.kill();
        fixture.assert_not_modified();
        let text = format!("number {number}");
        fixture.sql().run_and_close(&[&change(&text)]);
        fixture.assert_new(&text);
    }
}

#[test]
fn commits_of_killed_writer_are_seen() {
    let dir = TestDir::in_memory();
    let mut fixture = Fixture::new(&dir);
    for round in 0..10 {
        let mut sql = fixture.sql();
        for number in 0..100 {
            sql.send(&change(&format!("round {round} number {number:02}")));
        }
        for number in 0..=round * 5 {
            sql.result().unwrap();
            if number == round * 5 / 2 {
                // In the middle of the commits.
                fixture.assert_responses(LIST, 200, &format!("round {round} number "));
            }
        }
        sql.kill();
        // Another process reads what the killed process has committed.
        let mut sql = fixture.sql();
        let title = sql.run("SELECT title FROM courses WHERE account_id = 'a' AND slug = 'one'");
        assert!(*title >= *format!("round {round} number {:02}", round * 5), "{title}");
        fixture.assert_new(&title);
        sql.run(&change(&format!("after round {round}")));
        fixture.assert_new(&format!("after round {round}"));
    }
}

/// A writer killed while it writes the index header leaves two different copies. The next connection rebuilds the index.
#[test]
fn commits_are_seen_despite_torn_index_header() {
    let dir = TestDir::in_memory();
    let mut fixture = Fixture::new(&dir);
    let mut sql = fixture.sql();
    let index = File::options().read(true).write(true).open(sibling(&fixture.dir.database(), "-shm")).unwrap();
    for number in 10..20 {
        let tear = |copy: u64| {
            let mut counter = [0; 1];
            index.read_exact_at(&mut counter, copy * HEADER + COUNTER).unwrap();
            index.write_all_at(&[!counter[0]], copy * HEADER + COUNTER).unwrap();
        };
        let text = format!("number {number}");
        sql.run(&change(&text));
        tear(0);
        fixture.assert_new(&text);
        tear(1);
        fixture.assert_not_modified();
        sql.run(&change(&format!("after {text}")));
        tear(number % 2);
        fixture.assert_new(&format!("after {text}"));
        if number % 4 == 0 {
            sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
            tear(0);
            fixture.assert_not_modified();
        }
    }
}
