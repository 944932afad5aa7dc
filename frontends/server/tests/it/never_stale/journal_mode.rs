//! A database that has no write-ahead log, and one that gets or loses it.

use super::scene::{Key, Scene, change, fill};
use super::sql::Sql;
use crate::program::Place;

/// Servers over a database in the rollback mode that SQLite has unless told otherwise.
fn without_a_log() -> Scene {
    let place = Place::in_memory();
    fill(&place, "first.db");
    // Made beforehand: a command that writes to the copy would bring the log back.
    let key = Key::create(&place, "first.db");
    let copy = format!("VACUUM INTO '{}'", place.path("catalogue.db").display());
    Sql::open(&place.path("first.db")).run(&copy);
    Scene::served_by(place, "catalogue.db", key, |command| command)
}

#[test]
fn every_rollback_mode() {
    let mut scene = without_a_log();
    let mut sql = scene.sql();
    for mode in ["delete", "truncate", "persist", "memory"] {
        assert_eq!(sql.run(&format!("PRAGMA journal_mode = {mode}")), mode);
        for number in 0..15 {
            let text = format!("{mode} {number}");
            sql.run(&change(&text));
            scene.shows(&text);
            scene.shows_nothing_new();
        }
    }
}

#[test]
fn a_log_that_comes_and_cannot_go_under_the_servers() {
    let mut scene = without_a_log();
    let mut sql = scene.sql();
    for number in 0..5 {
        let text = format!("delete {number}");
        sql.run(&change(&text));
        scene.shows(&text);
    }
    assert_eq!(sql.run("PRAGMA journal_mode = wal"), "wal");
    sql.run("PRAGMA busy_timeout = 0");
    scene.shows_nothing_new();
    for number in 0..5 {
        let text = format!("wal {number}");
        sql.run(&change(&text));
        scene.shows(&text);
        // Somebody else holds the database.
        sql.send("PRAGMA journal_mode = delete");
        assert!(sql.result().unwrap_err().contains("locked"));
        scene.shows_nothing_new();
    }
}
