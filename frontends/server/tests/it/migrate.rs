//! `catalogue migrate`

use crate::databases::on_each_database;
use crate::program::TestDir;

on_each_database!(migrate_reports_old_and_new_version);

fn migrate_reports_old_and_new_version(dir: &TestDir) {
    let created = dir.run("migrate --json").json();
    assert_eq!((created.as_object().unwrap().len(), &created["from"]), (2, &0.into()));
    let again = dir.run("migrate --json").json();
    assert_eq!((&again["from"], &again["to"]), (&created["to"], &created["to"]));
    let done = format!("{}: the schema is up to date: version {}\n", dir.database_name(), created["to"]);
    assert_eq!(dir.run("migrate").succeeds(), done);
    assert!(dir.run("migrate --database sqlite:new.db").succeeds().contains("new database"));
    assert_eq!(dir.export(), "");
}

#[test]
fn database_of_unreleased_build_is_refused() {
    let dir = TestDir::new();
    dir.run("migrate").succeeds();
    dir.host().run("PRAGMA application_id = 0x63636174; PRAGMA user_version = 7");
    for command in ["migrate", "keys list --account a", "export", "backup copy.db", "serve --listen 127.0.0.1:0"] {
        let output = ["older, unreleased build", "export the courses with that build", "create new keys"];
        dir.run(command).fails(1, &output);
    }
}

#[test]
fn newer_schema_version_is_refused() {
    let dir = TestDir::new();
    dir.run("migrate").succeeds();
    dir.host().run("PRAGMA user_version = 2");
    for command in ["migrate", "keys list --account a", "serve --listen 127.0.0.1:0"] {
        dir.run(command).fails(1, &["schema version 2", "newer program", "up to 1"]);
    }
}
