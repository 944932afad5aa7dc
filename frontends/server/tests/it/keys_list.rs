//! `keys list` of all accounts, and what it picks out.

use std::process::Command;

use serde_json::Value;

use crate::program::{Outcome, TestDir};

/// The names in a list, in order.
fn names(listed: &Value) -> Vec<&str> {
    listed.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap_or("token")).collect()
}

/// The commands on whatever database `command` names, with accounts `a` and `b`; `sql` changes it.
pub(crate) fn keys_of_all_accounts_are_looked_over(command: impl Fn(&str) -> Command, sql: impl Fn(&str)) {
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
    let gone = all().as_array().unwrap().iter().find(|key| key["name"] == "gone").unwrap().clone();
    run(&format!("keys revoke {}", gone["id"].as_str().unwrap())).succeeds();

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

    let picked = |arguments: &str| {
        let listed = run(&format!("keys list --json {arguments}")).json();
        names(&listed).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(picked("--expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(picked("--expiring 30d --account b"), ["of-b"]);
    assert_eq!(picked("--expiring 50d"), ["rotated", "rotated", "of-b"]);
    assert_eq!(picked("--unused 1d"), [""; 0]);
    assert_eq!(picked("--never-used"), ["rotated", "for-good", "later", "rotated", "of-b", "token"]);
    sql("UPDATE credentials SET created_at = created_at - 90 * CAST(86400000000 AS BIGINT)");
    sql("UPDATE credentials SET last_used_at = created_at + 80 * CAST(86400000000 AS BIGINT) WHERE name = 'later'");
    assert_eq!(picked("--unused 90d"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(picked("--unused 9d --account a"), ["rotated", "for-good", "later", "rotated"]);
    assert_eq!(picked("--unused 90d --expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(picked("--never-used"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(picked("--never-used --expiring 30d"), ["rotated", "of-b"]);
    run("keys list --unused soon").fails(2, &["--unused"]);
}

#[test]
fn all_keys_are_listed_or_those_that_need_a_look() {
    let dir = TestDir::with_courses();
    let host = rusqlite::Connection::open(dir.path("catalogue.db")).unwrap();
    keys_of_all_accounts_are_looked_over(
        |arguments| dir.command(arguments),
        |sql| {
            host.execute(sql, []).unwrap();
        },
    );
}
