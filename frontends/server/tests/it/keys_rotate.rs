//! `catalogue keys rotate`

use serde_json::{Value, json};

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir, text};

on_each_database!(
    both_keys_work_during_the_overlap,
    invalid_keys_are_not_rotated,
    key_has_only_one_successor,
    old_key_expires_immediately_without_overlap,
    successor_has_same_lifetime_and_old_key_is_not_extended,
);

const CREATE: &str = "keys create --account a --name n --scope read:courses read:profile --json";
const DAY: i64 = 24 * 60 * 60;

/// Rotates the key `id` and returns its successor, even if the command prints a note.
fn rotate(dir: &TestDir, id: &str, options: &str) -> Value {
    let outcome = dir.run(&format!("keys rotate {id} {options} --json"));
    serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{outcome:?}"))
}

fn list(dir: &TestDir) -> Value {
    dir.run("keys list --account a --json").json()
}

/// Returns the seconds between two times of `keys`.
fn seconds_between(keys: [&Value; 2], fields: [&str; 2]) -> i64 {
    let [earlier, later] =
        [0, 1].map(|at| catalogue_core::Timestamp::parse(text(keys[at], fields[at])).unwrap().as_microseconds());
    (later - earlier) / 1_000_000
}

fn lifetime(key: &Value) -> i64 {
    seconds_between([key, key], ["createdAt", "expiresAt"])
}

fn both_keys_work_during_the_overlap(dir: &TestDir) {
    dir.import(COURSES);
    let old = dir.run(CREATE).json();
    let server = dir.serve("--log off");
    let new = dir.run(&format!("keys rotate {} --overlap 24h --json", text(&old, "id"))).json();
    for key in [&old, &new] {
        let (status, me) = server.get("/api/v1/me", text(key, "token"));
        assert_eq!((status, &me["data"]["apiKeyId"]), (200, &key["id"]));
    }
    assert_ne!(old["id"], new["id"]);
    for same in ["account", "name", "scopes", "expiresAt"] {
        assert_eq!(old[same], new[same], "{same}");
    }
    let old = dir.listed(text(&old, "id"));
    assert_eq!(new["replaces"], json!({ "id": old["id"], "expiresAt": old["expiresAt"] }));
    assert_eq!(seconds_between([&new, &old], ["createdAt", "expiresAt"]), DAY);
    assert_eq!(old["revokedAt"], Value::Null);
}

#[test]
fn rotate_prints_only_the_token_and_overlaps_by_a_day() {
    let dir = TestDir::with_courses();
    let old = dir.run(CREATE).json();
    let token = dir.run(&format!("keys rotate {}", text(&old, "id"))).succeeds();
    assert!(token.starts_with("ccat_") && token.ends_with('\n') && token.len() == 55, "{token:?}");
    let ended = dir.listed(text(&old, "id"));
    assert!(lifetime(&ended) >= DAY, "{ended}");
    let table = dir.run("keys list --account a").succeeds();
    assert!(
        table.contains("  ending  2") && table.contains("  valid   -") && !table.contains(token.trim_end()),
        "{table}"
    );
}

fn old_key_expires_immediately_without_overlap(dir: &TestDir) {
    dir.import(COURSES);
    let old = dir.run(CREATE).json();
    let server = dir.serve("--log off");
    assert_eq!(server.get("/api/v1/me", text(&old, "token")).0, 200);
    let new = rotate(dir, text(&old, "id"), "--overlap 0s");
    let (status, refusal) = server.get("/api/v1/me", text(&old, "token"));
    assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("expired")));
    assert_eq!(server.get("/api/v1/me", text(&new, "token")).0, 200);
    assert_eq!(new["replaces"]["expiresAt"], new["createdAt"]);
}

fn successor_has_same_lifetime_and_old_key_is_not_extended(dir: &TestDir) {
    dir.import(COURSES);
    let old = dir.run(&format!("{CREATE} --expires-in 1h")).json();
    let outcome = dir.run(&format!("keys rotate {} --overlap 2h --json", text(&old, "id")));
    let new: Value = serde_json::from_str(&outcome.out).unwrap();
    // An expiry that the command did not request is reported.
    let note = format!("note: {} expires at {}", text(&new, "id"), text(&new, "expiresAt"));
    assert!(
        outcome.status == Some(0) && outcome.err.starts_with(&note) && outcome.err.lines().count() == 1,
        "{outcome:?}"
    );
    assert_eq!(lifetime(&new), 60 * 60);
    assert_eq!(new["replaces"]["expiresAt"], old["expiresAt"]);
    let next = dir.run(&format!("keys rotate {} --expires-in 90d --json", text(&new, "id"))).json();
    assert_eq!(lifetime(&next), 90 * DAY);
}

fn invalid_keys_are_not_rotated(dir: &TestDir) {
    dir.import(COURSES);
    let (revoked, _) = dir.key("a");
    dir.run(&format!("keys revoke {revoked}")).succeeds();
    let (expired, _) = dir.key("a");
    rotate(dir, &expired, "--overlap 0s");
    let oauth = dir.run("tokens create --account a --scope read:courses --json").json();
    let (valid, _) = dir.key("a");
    let before = list(dir);
    for (arguments, status, pieces) in [
        (&*revoked, 1, &["was revoked at 2"][..]),
        (&expired, 1, &["expired at 2"]),
        (text(&oauth, "id"), 1, &["is an OAuth token"]),
        ("key_1", 1, &["no credential has the id \"key_1\""]),
        ("key_1 --overlap 1y", 2, &["--overlap", "like 90d"]),
        (&format!("{valid} --overlap 9999999d"), 2, &["--overlap: ", "9999"]),
        ("", 2, &["<KEY_ID>"]),
    ] {
        dir.run(&format!("keys rotate {arguments}")).fails(status, pieces);
    }
    assert_eq!(list(dir), before);
}

/// After a rotation the key expires at the end of the overlap, and so would a second successor.
fn key_has_only_one_successor(dir: &TestDir) {
    dir.import(COURSES);
    for options in ["", "--expires-in 90d"] {
        let old = dir.run(&format!("{CREATE} {options}")).json();
        let new = rotate(dir, text(&old, "id"), "--overlap 1h");
        let before = list(dir);
        let again = format!("{} already has the successor {}, and expires at 2", text(&old, "id"), text(&new, "id"));
        let hint = format!("`keys rotate {}` to replace it, or `keys revoke {}`", text(&new, "id"), text(&old, "id"));
        dir.run(&format!("keys rotate {} --expires-in 1d", text(&old, "id"))).fails(1, &[&again, &hint]);
        assert_eq!(list(dir), before);
        // The successor has the first key's original lifetime.
        let newest = rotate(dir, text(&new, "id"), "--overlap 1h");
        match options {
            "" => assert_eq!(newest["expiresAt"], Value::Null),
            _ => assert_eq!(lifetime(&newest), 90 * DAY),
        }
    }
}
