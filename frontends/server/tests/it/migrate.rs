//! `catalogue migrate`

use rusqlite::Connection;

use crate::program::{Server, TestDir};

/// What version 1 was released as.
const VERSION_1: &str = include_str!("../../../../storage/sqlite/migrations/0001_initial.sql");

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

/// A database of version 1 with an account, a course and a key.
fn place_with_version_1() -> TestDir {
    let dir = TestDir::new();
    let connection = Connection::open(dir.path("catalogue.db")).unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    let content = "INSERT INTO accounts (id) VALUES ('a');
        INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('a', 5, 'one', 'One', 'en');
        INSERT INTO credentials (digest, account_id, id, kind, name, shown_prefix, scopes, created_at)
        VALUES (zeroblob(32), 'a', 'key_1', 'api-key', 'n', 'ccat_abc', 'read:courses', 7);
        PRAGMA application_id = 0x63636174;
        PRAGMA user_version = 1;";
    connection.execute_batch(content).unwrap();
    dir
}

#[test]
fn an_older_version_is_brought_up_to_date_with_its_data() {
    let dir = place_with_version_1();
    for command in ["keys list --account a", "export", "serve --no-migrate --listen 127.0.0.1:0"] {
        dir.run(command).fails(1, &["schema version 1", "needs 7", "`migrate`"]);
    }
    assert_eq!(
        dir.run("migrate").succeeds(),
        "sqlite:catalogue.db: the schema was brought from version 1 to version 7\n"
    );
    let key = &dir.run("keys list --account a --json").json()[0];
    assert_eq!((&key["id"], &key["prefix"], &key["lastUsedAt"]), (&"key_1".into(), &"ccat_abc".into(), &().into()));
    assert!(dir.export().contains("\"slug\":\"one\""));
}

#[test]
fn a_server_and_an_import_migrate_by_themselves() {
    let dir = place_with_version_1();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log warn"));
    assert_eq!(server.end_by("TERM").0, Some(0));
    let exported = dir.export();

    let other = place_with_version_1();
    other.run_reading("", "import -").succeeds();
    assert_eq!(other.export(), exported);
}

#[test]
fn a_newer_version_is_refused() {
    let dir = place_with_version_1();
    Connection::open(dir.path("catalogue.db")).unwrap().pragma_update(None, "user_version", 8).unwrap();
    for command in ["migrate", "keys list --account a", "serve --listen 127.0.0.1:0"] {
        dir.run(command).fails(1, &["schema version 8", "newer program", "up to 7"]);
    }
}
