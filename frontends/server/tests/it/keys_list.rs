//! `catalogue keys list`, with and without filters.

use serde_json::Value;

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir, text};

on_each_database!(keys_are_listed_by_account_expiry_and_use);

/// Returns the names in a list, in order.
fn names(listed: &Value) -> Vec<&str> {
    listed.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap_or("token")).collect()
}

fn keys_are_listed_by_account_expiry_and_use(dir: &TestDir) {
    dir.import(COURSES);
    let create = |account: &str, arguments: &str| {
        dir.run(&format!("keys create --account {account} --scope read:courses --json {arguments}")).json()
    };
    create("b", "--name of-b --expires-in 20d");
    let old = create("a", "--name rotated --expires-in 40d");
    create("a", "--name for-good");
    create("a", "--name later --expires-in 60d");
    let gone = create("a", "--name gone --expires-in 3d");
    dir.run("tokens create --account b --scope read:profile").succeeds();
    assert_eq!(dir.run(&format!("keys rotate {} --overlap 2d", text(&old, "id"))).status, Some(0));
    dir.run(&format!("keys revoke {}", text(&gone, "id"))).succeeds();

    let listed = dir.run("keys list --json").json();
    assert_eq!(names(&listed), ["rotated", "for-good", "later", "gone", "rotated", "of-b", "token"]);
    let column = |field: &str| listed.as_array().unwrap().iter().map(|key| key[field].clone()).collect::<Vec<_>>();
    assert_eq!(column("account"), ["a", "a", "a", "a", "a", "b", "b"]);
    assert_eq!(column("state"), ["ending", "valid", "valid", "revoked", "valid", "valid", "valid"]);
    assert_eq!((&listed[0]["replacedBy"], &listed[4]["replaces"]), (&listed[4]["id"], &listed[0]["id"]));
    let table = dir.run("keys list").succeeds();
    let headings = table.lines().next().unwrap();
    for heading in ["ID", "ACCOUNT", "CREATED (UTC)", "LAST USED (UTC)", "STATE", "END (UTC)", "SUCCESSOR"] {
        assert!(headings.contains(heading), "{headings}");
    }
    assert_eq!(table.lines().count(), 8, "{table}");

    let filtered = |arguments: &str| {
        let listed = dir.run(&format!("keys list --json {arguments}")).json();
        names(&listed).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(filtered("--expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(filtered("--expiring 30d --account b"), ["of-b"]);
    assert_eq!(filtered("--expiring 50d"), ["rotated", "rotated", "of-b"]);
    assert_eq!(filtered("--unused 1d"), [""; 0]);
    assert_eq!(filtered("--never-used"), ["rotated", "for-good", "later", "rotated", "of-b", "token"]);
    let host = dir.host();
    host.run("UPDATE credentials SET created_at = created_at - 90 * CAST(86400000000 AS BIGINT)");
    host.run(
        "UPDATE credentials SET last_used_at = created_at + 80 * CAST(86400000000 AS BIGINT) WHERE name = 'later'",
    );
    assert_eq!(filtered("--unused 90d"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(filtered("--unused 9d --account a"), ["rotated", "for-good", "later", "rotated"]);
    assert_eq!(filtered("--unused 90d --expiring 30d"), ["rotated", "of-b"]);
    assert_eq!(filtered("--never-used"), ["rotated", "for-good", "rotated", "of-b", "token"]);
    assert_eq!(filtered("--never-used --expiring 30d"), ["rotated", "of-b"]);
    dir.run("keys list --unused soon").fails(2, &["--unused"]);
}
