//! `catalogue keys rotate`

use serde_json::{Value, json};

use crate::program::{Server, TestDir};

const CREATE: &str = "keys create --account a --name n --scope read:courses read:profile --json";

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name}: {value}"))
}

/// Returns the entry of the key `id` in `keys list`.
fn listed(dir: &TestDir, id: &str) -> Value {
    let all = dir.run("keys list --account a --json").json();
    all.as_array().unwrap().iter().find(|key| key["id"] == id).unwrap().clone()
}

/// Returns the seconds between two times.
fn seconds_between(earlier: &str, later: &str) -> i64 {
    let micros = |text| catalogue_core::Timestamp::parse(text).unwrap().as_microseconds();
    (micros(later) - micros(earlier)) / 1_000_000
}

#[test]
fn both_keys_work_during_the_overlap() {
    let dir = TestDir::with_courses();
    let old = dir.run(CREATE).json();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log off"));
    let new = dir.run(&format!("keys rotate {} --overlap 24h --json", text(&old, "id"))).json();
    for key in [&old, &new] {
        let (status, me) = server.get("/api/v1/me", text(key, "token"));
        assert_eq!((status, &me["data"]["apiKeyId"]), (200, &key["id"]));
    }
    assert_ne!(old["id"], new["id"]);
    for same in ["account", "name", "scopes", "expiresAt"] {
        assert_eq!(old[same], new[same], "{same}");
    }
    let (old, new) = (listed(&dir, text(&old, "id")), new);
    assert_eq!(new["replaces"], json!({ "id": old["id"], "expiresAt": old["expiresAt"] }));
    assert_eq!(seconds_between(text(&new, "createdAt"), text(&old, "expiresAt")), 24 * 60 * 60);
    assert_eq!(old["revokedAt"], Value::Null);
}

#[test]
fn rotate_prints_only_the_token_and_overlaps_by_a_day() {
    let dir = TestDir::with_courses();
    let old = dir.run(CREATE).json();
    let token = dir.run(&format!("keys rotate {}", text(&old, "id"))).succeeds();
    assert!(token.starts_with("ccat_") && token.ends_with('\n') && token.len() == 55, "{token:?}");
    let ended = listed(&dir, text(&old, "id"));
    let seconds = seconds_between(text(&old, "createdAt"), text(&ended, "expiresAt"));
    assert!(seconds >= 24 * 60 * 60, "{ended}");
    let table = dir.run("keys list --account a").succeeds();
    assert!(
        table.contains("  ending  2") && table.contains("  valid   -") && !table.contains(token.trim_end()),
        "{table}"
    );
}

#[test]
fn old_key_expires_immediately_without_overlap() {
    let dir = TestDir::with_courses();
    let old = dir.run(CREATE).json();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log off"));
    assert_eq!(server.get("/api/v1/me", text(&old, "token")).0, 200);
    let new = dir.run(&format!("keys rotate {} --overlap 0s --json", text(&old, "id"))).json();
    let (status, refusal) = server.get("/api/v1/me", text(&old, "token"));
    assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("expired")));
    assert_eq!(server.get("/api/v1/me", text(&new, "token")).0, 200);
    assert_eq!(new["replaces"]["expiresAt"], new["createdAt"]);
}

#[test]
fn successor_has_same_lifetime_and_old_key_is_not_extended() {
    let dir = TestDir::with_courses();
    let old = dir.run(&format!("{CREATE} --expires-in 1h")).json();
    let outcome = dir.run(&format!("keys rotate {} --overlap 2h --json", text(&old, "id")));
    let new: Value = serde_json::from_str(&outcome.out).unwrap();
    // An expiry that the command did not request is reported.
    let note = format!("note: {} expires at {}", text(&new, "id"), text(&new, "expiresAt"));
    assert!(
        outcome.status == Some(0) && outcome.err.starts_with(&note) && outcome.err.lines().count() == 1,
        "{outcome:?}"
    );
    assert_eq!(seconds_between(text(&new, "createdAt"), text(&new, "expiresAt")), 60 * 60);
    assert_eq!(new["replaces"]["expiresAt"], old["expiresAt"]);
    let next = dir.run(&format!("keys rotate {} --expires-in 90d --json", text(&new, "id"))).json();
    assert_eq!(seconds_between(text(&next, "createdAt"), text(&next, "expiresAt")), 90 * 24 * 60 * 60);
}

#[test]
fn invalid_keys_are_not_rotated() {
    let dir = TestDir::with_courses();
    let revoked = dir.run(CREATE).json();
    dir.run(&format!("keys revoke {}", text(&revoked, "id"))).succeeds();
    let expired = dir.run(CREATE).json();
    dir.run(&format!("keys rotate {} --overlap 0s", text(&expired, "id"))).succeeds();
    let oauth = dir.run("tokens create --account a --scope read:courses --json").json();
    let before = dir.run("keys list --account a --json").json();
    for (id, piece) in [
        (text(&revoked, "id"), "was revoked at 2"),
        (text(&expired, "id"), "expired at 2"),
        (text(&oauth, "id"), "is an OAuth token"),
        ("key_1", "no credential has the id \"key_1\""),
    ] {
        dir.run(&format!("keys rotate {id}")).fails(1, &[piece]);
    }
    let outcome = dir.run("keys rotate ccat_perhaps_a_token");
    assert!(!outcome.err.contains("ccat_perhaps"), "{outcome:?}");
    outcome.fails(1, &["keys list"]);
    dir.run("keys rotate key_1 --overlap 1y").fails(2, &["--overlap", "like 90d"]);
    dir.run("keys rotate").fails(2, &["<KEY_ID>"]);
    assert_eq!(dir.run("keys list --account a --json").json(), before);

    let key = dir.run(CREATE).json();
    dir.run(&format!("keys rotate {} --overlap 9999999d", text(&key, "id"))).fails(2, &["--overlap", "9999"]);
    assert_eq!(listed(&dir, text(&key, "id"))["expiresAt"], Value::Null);
}

/// After a rotation the key expires at the end of the overlap, and so would a second successor.
#[test]
fn key_has_only_one_successor() {
    let dir = TestDir::with_courses();
    for options in ["", "--expires-in 90d"] {
        let old = dir.run(&format!("{CREATE} {options}")).json();
        let rotate = |id: &str| dir.run(&format!("keys rotate {id} --overlap 1h --json"));
        let new: Value = serde_json::from_str(&rotate(text(&old, "id")).out).unwrap();
        let before = dir.run("keys list --account a --json").json();
        let again = format!("{} already has the successor {}, and expires at 2", text(&old, "id"), text(&new, "id"));
        let next = format!("`keys rotate {}`", text(&new, "id"));
        dir.run(&format!("keys rotate {} --expires-in 1d", text(&old, "id"))).fails(1, &[&again, &next]);
        assert_eq!(dir.run("keys list --account a --json").json(), before);
        // The successor has the first key's original lifetime.
        let newest: Value = serde_json::from_str(&rotate(text(&new, "id")).out).unwrap();
        match options {
            "" => assert_eq!(newest["expiresAt"], Value::Null),
            _ => {
                let lives = seconds_between(text(&newest, "createdAt"), text(&newest, "expiresAt"));
                assert_eq!(lives, 90 * 24 * 60 * 60);
            }
        }
    }
}
