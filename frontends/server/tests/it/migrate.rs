//! `catalogue migrate`

use rusqlite::Connection;

use crate::program::TestDir;

#[test]
fn says_from_which_version_to_which() {
    let dir = TestDir::new();
    let made = dir.run("migrate --json").json();
    assert_eq!((made.as_object().unwrap().len(), &made["from"]), (2, &0.into()));
    let again = dir.run("migrate --json").json();
    assert_eq!((&again["from"], &again["to"]), (&made["to"], &made["to"]));
    assert!(dir.run("migrate").succeeds().contains("up to date"));
    assert!(dir.run("migrate --database sqlite:new.db").succeeds().contains("new database"));
    assert_eq!(dir.export(), "");
}

#[test]
fn database_of_an_unreleased_build_is_refused_by_every_command() {
    let dir = TestDir::new();
    dir.run("migrate").succeeds();
    let mark = "PRAGMA application_id = 0x63636174; PRAGMA user_version = 7";
    Connection::open(dir.path("catalogue.db")).unwrap().execute_batch(mark).unwrap();
    for command in ["migrate", "keys list --account a", "export", "backup copy.db", "serve --listen 127.0.0.1:0"] {
        let output = ["older, unreleased build", "export the courses with that build", "create new keys"];
        dir.run(command).fails(1, &output);
    }
}

#[test]
fn a_newer_version_is_refused() {
    let dir = TestDir::new();
    dir.run("migrate").succeeds();
    Connection::open(dir.path("catalogue.db")).unwrap().pragma_update(None, "user_version", 2).unwrap();
    for command in ["migrate", "keys list --account a", "serve --listen 127.0.0.1:0"] {
        dir.run(command).fails(1, &["schema version 2", "newer program", "up to 1"]);
    }
}
