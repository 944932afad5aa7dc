//! Databases in rollback mode, and a database that is switched to WAL mode.

use super::fixture::{Fixture, Key, change, fill};
use super::sql::Sql;
use crate::program::TestDir;

/// Returns a fixture over a database in rollback mode, the default of SQLite.
fn without_wal() -> Fixture {
    let dir = TestDir::in_memory();
    fill(&dir, "first.db");
    // Created beforehand: a command that writes to the copy would switch it to WAL mode.
    let key = Key::create(&dir, "first.db");
    let copy = format!("VACUUM INTO '{}'", dir.path("catalogue.db").display());
    Sql::open(&dir.path("first.db")).run(&copy);
    Fixture::with_servers(dir, "catalogue.db", key, |command| command)
}

#[test]
fn commits_are_seen_in_every_rollback_mode() {
    let mut fixture = without_wal();
    let mut sql = fixture.sql();
    for mode in ["delete", "truncate", "persist", "memory"] {
        assert_eq!(sql.run(&format!("PRAGMA journal_mode = {mode}")), mode);
        for number in 0..15 {
            let text = format!("{mode} {number}");
            sql.run(&change(&text));
            fixture.assert_new(&text);
            fixture.assert_not_modified();
        }
    }
}

#[test]
fn commits_are_seen_after_switch_to_wal() {
    let mut fixture = without_wal();
    let mut sql = fixture.sql();
    for number in 0..5 {
        let text = format!("delete {number}");
        sql.run(&change(&text));
        fixture.assert_new(&text);
    }
    assert_eq!(sql.run("PRAGMA journal_mode = wal"), "wal");
    sql.run("PRAGMA busy_timeout = 0");
    fixture.assert_not_modified();
    for number in 0..5 {
        let text = format!("wal {number}");
        sql.run(&change(&text));
        fixture.assert_new(&text);
        // The servers have the database open, so the switch back fails.
        sql.send("PRAGMA journal_mode = delete");
        assert!(sql.result().unwrap_err().contains("locked"));
        fixture.assert_not_modified();
    }
}
