//! `catalogue migrate`

use rusqlite::Connection;

use crate::program::TestDir;

#[test]
fn migrate_reports_old_and_new_version() {
    let dir = TestDir::new();
    let created = dir.run("migrate --json").json();
    assert_eq!((created.as_object().unwrap().len(), &created["from"]), (2, &0.into()));
    let again = dir.run("migrate --json").json();
    assert_eq!((&again["from"], &again["to"]), (&created["to"], &created["to"]));
    assert!(dir.run("migrate").succeeds().contains("up to date"));
    assert!(dir.run("migrate --database sqlite:new.db").succeeds().contains("new database"));
    assert_eq!(dir.export(), "");
}

#[test]
fn database_of_unreleased_build_is_refused() {
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
fn newer_schema_version_is_refused() {
    let dir = TestDir::new();
    dir.run("migrate").succeeds();
    Connection::open(dir.path("catalogue.db")).unwrap().pragma_update(None, "user_version", 2).unwrap();
    for command in ["migrate", "keys list --account a", "serve --listen 127.0.0.1:0"] {
        dir.run(command).fails(1, &["schema version 2", "newer program", "up to 1"]);
    }
}
