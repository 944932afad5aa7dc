//! WAL restarts, truncations and leftovers: none of them may hide a commit.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use super::fixture::{Fixture, change, sibling};
use super::sql::Sql;
use super::{DETAIL, LIST};

#[test]
fn commits_are_seen_after_each_checkpoint_mode() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    // All commits have the same size, so the WAL has the same size after each.
    for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"] {
        for number in 10..30 {
            let text = format!("{mode} {number}");
            sql.run(&change(&text));
            fixture.assert_new(&text);
            assert!(sql.run(&format!("PRAGMA wal_checkpoint({mode})")).starts_with("0 "), "all is checkpointed");
            fixture.assert_not_modified();
        }
    }
}

#[test]
fn commit_is_seen_after_wal_truncation() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 10..50 {
        let text = format!("number {number}");
        sql.run(&change(&text));
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        fixture.assert_new(&text);
    }
    assert_eq!(fs::metadata(sibling(fixture.database(), "-wal")).unwrap().len(), 0);
}

#[test]
fn commits_are_seen_with_automatic_checkpoints() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    sql.run("PRAGMA journal_size_limit = 0");
    sql.run("PRAGMA wal_autocheckpoint = 1");
    for number in 10..60 {
        let text = format!("number {number}");
        sql.run(&change(&text));
        fixture.assert_new(&text);
    }
}

#[test]
fn vacuum_keeps_etags_and_hides_no_commit() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..5 {
        let text = format!("number {number}");
        sql.run(&change(&text));
        sql.run("VACUUM");
        fixture.assert_new(&text);
        sql.run("VACUUM");
        fixture.assert_not_modified();
        sql.run("PRAGMA wal_checkpoint(TRUNCATE)");
        sql.run("VACUUM");
        fixture.assert_not_modified();
        sql.run("REINDEX");
        sql.run("ANALYZE");
        fixture.assert_not_modified();
    }
}

#[test]
fn new_host_table_keeps_etags_and_hides_no_commit() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    for number in 0..5 {
        sql.run(&format!("CREATE TABLE of_the_host_{number} (id INTEGER PRIMARY KEY)"));
        fixture.assert_not_modified();
        let text = format!("number {number}");
        sql.run(&change(&text));
        fixture.assert_new(&text);
    }
}

/// Length of a WAL index's header, of which the index contains two copies, and offset of the transaction counter in the header.
const HEADER: u64 = 48;
const COUNTER: u64 = 8;

/// Begins a transaction so large that it spills into the WAL before its commit.
fn begin_a_large_transaction(fixture: &Fixture) -> Sql {
    let mut sql = fixture.sql();
    sql.run("PRAGMA cache_size = 4");
    let wal = sibling(fixture.database(), "-wal");
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
    let mut fixture = Fixture::new();
    for number in 0..3 {
        let sql = begin_a_large_transaction(&fixture);
        fixture.assert_not_modified();
        sql.kill();
        fixture.assert_not_modified();
        let text = format!("number {number}");
        fixture.sql().run(&change(&text));
        fixture.assert_new(&text);
    }
}

#[test]
fn commits_of_killed_writer_are_seen() {
    let mut fixture = Fixture::new();
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
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    let index = File::options().read(true).write(true).open(sibling(fixture.database(), "-shm")).unwrap();
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

#[test]
fn open_transaction_does_not_block_readers() {
    let mut fixture = Fixture::new();
    let mut reader_elsewhere = fixture.sql();
    reader_elsewhere.run("BEGIN");
    reader_elsewhere.run("SELECT title FROM courses");
    let mut sql = fixture.sql();
    for number in 0..10 {
        // The other reader's old snapshot keeps the WAL from restarting.
        let text = format!("number {number}");
        sql.run(&change(&text));
        sql.run("PRAGMA wal_checkpoint(PASSIVE)");
        fixture.assert_new(&text);
    }
    sql.run("BEGIN EXCLUSIVE");
    fixture.assert_not_modified();
    sql.run("UPDATE modules SET summary = 'at last'");
    sql.run("COMMIT");
    fixture.assert_new_at(DETAIL, "at last");
}
