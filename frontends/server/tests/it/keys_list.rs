//! `catalogue keys list`, with and without filters.

use std::process::Command;

use serde_json::Value;

use crate::program::{Outcome, TestDir};

/// Returns the names in a list, in order.
fn names(listed: &Value) -> Vec<&str> {
    listed.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap_or("token")).collect()
}

/// Asserts that `keys list` works on the database of `command`, which has the accounts `a` and `b`.
/// `sql` runs a statement on this database.
pub(crate) fn assert_keys_can_be_listed_and_filtered(command: impl Fn(&str) -> Command, sql: impl Fn(&str)) {
    let run = |arguments: &str| Outcome::from(command(arguments).output().unwrap());
    let create = |account: &str, arguments: &str| {
        run(&format!("keys create --account {account} --scope read:courses --json {arguments}")).json()
    };
    create("b", "--name of-b --expires-in 20d");
    let old = create("a", "--name rotated --expires-in 40d");
    create("a", "--name for-good");
    create("a", "--name later --expires-in 60d");
    create("a", "--name gone --expires-in 3d");
    run("tokens create --account b --scope read:profile").succeeds();
    let rotated = command(&format!("keys rotate {} --overlap 2d", old["id"].as_str().unwrap())).output().unwrap();
    assert!(rotated.status.success());
    let all = || run("keys list --json").json();
    let key = all().as_array().unwrap().iter().find(|key| key["name"] == "gone").unwrap().clone();
    run(&format!("keys revoke {}", key["id"].as_str().unwrap())).succeeds();

    let listed = all();
    assert_eq!(names(&listed), ["rotated", "for-good", "later", "gone", "rotated", "of-b", "token"]);
    let column = |field: &str| listed.as_array().unwrap().iter().map(|key| key[field].clone()).collect::<Vec<_>>();
    assert_eq!(column("account"), ["a", "a", "a", "a", "a", "b", "b"]);
    assert_eq!(column("state"), ["ending", "valid", "valid", "revoked", "valid", "valid", "valid"]);
    assert_eq!((&listed[0]["replacedBy"], &listed[4]["replaces"]), (&listed[4]["id"], &listed[0]["id"]));
    let table = run("keys list").succeeds();
    let headings = table.lines().next().unwrap();
    for heading in ["ID", "ACCOUNT", "CREATED (UTC)", "LAST USED (UTC)", "STATE", "END (UTC)", "SUCCESSOR"] {
        assert!(headings.contains(heading), "{headings}");
    }
    assert_eq!(table.lines().count(), 8, "{table}");

    let filtered = |arguments: &str| {
        let listed = run(&format!("keys list --json {arguments}")).json();
        names(&listed).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(filtered("--expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(filtered("--expiring 30d --account b"), ["of-b"]);
    assert_eq!(filtered("--expiring 50d"), ["rotated", "rotated", "of-b"]);
    assert_eq!(filtered("--unused 1d"), [""; 0]);
    assert_eq!(filtered("--never-used"), ["rotated", "for-good", "later", "rotated", "of-b", "token"]);
    sql("UPDATE credentials SET created_at = created_at - 90 * CAST(86400000000 AS BIGINT)");
    sql("UPDATE credentials SET last_used_at = created_at + 80 * CAST(86400000000 AS BIGINT) WHERE name = 'later'");
    assert_eq!(filtered("--unused 90d"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(filtered("--unused 9d --account a"), ["rotated", "for-good", "later", "rotated"]);
    assert_eq!(filtered("--unused 90d --expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(filtered("--never-used"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(filtered("--never-used --expiring 30d"), ["rotated", "of-b"]);
    run("keys list --unused soon").fails(2, &["--unused"]);
}

#[test]
fn keys_are_listed_by_account_expiry_and_use() {
    let dir = TestDir::with_courses();
    let host = rusqlite::Connection::open(dir.path("catalogue.db")).unwrap();
    assert_keys_can_be_listed_and_filtered(
        |arguments| dir.command(arguments),
        |sql| {
            host.execute(sql, []).unwrap();
        },
    );
}
