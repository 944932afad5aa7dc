//! Last use of credentials: recorded by `serve`, printed by `keys list`.

use catalogue_core::Timestamp;
use serde_json::Value;

use crate::databases::on_each_database;
use crate::observed::Observed;
use crate::program::{COURSES, TestDir, text};

const CREATE: &str = "keys create --account a --scope read:courses --json --name";

on_each_database!(uses_are_recorded_at_shutdown);

/// Returns the last use of the credential `id` of account `a`.
fn last_use(dir: &TestDir, id: &str) -> Option<Timestamp> {
    let found = dir.listed(id);
    found.get("lastUsedAt").unwrap().as_str().map(|time| Timestamp::parse(time).unwrap())
}

/// Returns the current time in the precision of the API.
fn now() -> Timestamp {
    Timestamp::parse(&Timestamp::now().to_string()).unwrap()
}

fn uses_are_recorded_at_shutdown(dir: &TestDir) {
    dir.import(COURSES);
    let key = dir.run(&format!("{CREATE} used")).json();
    let oauth = dir.run("tokens create --account a --scope read:courses --json").json();
    let unused = dir.run(&format!("{CREATE} unused")).json();
    let revoked = dir.run(&format!("{CREATE} revoked")).json();
    dir.run(&format!("keys revoke {}", text(&revoked, "id"))).succeeds();

    let server = dir.serve("--log warn");
    let before = now();
    for (credential, path, status) in [
        (&key, "/api/v1/courses", 200),
        (&key, "/api/v1/courses/absent", 404),
        (&oauth, "/api/v1/courses", 200),
        (&revoked, "/api/v1/courses", 401),
    ] {
        assert_eq!(server.get(path, text(credential, "token")).0, status);
    }
    let after = now();
    assert_eq!(server.stop_with("TERM").0, Some(0));

    for used in [&key, &oauth] {
        let at = last_use(dir, text(used, "id")).expect("it was used");
        assert!(before <= at && at <= after, "{before} {at} {after}");
    }
    // A rejected request does not count as a use.
    for never in [&unused, &revoked] {
        assert_eq!(last_use(dir, text(never, "id")), None);
    }
    let table = dir.run("keys list --account a").succeeds();
    let row = |name: &str| table.lines().find(|line| line.contains(name)).unwrap();
    assert!(table.contains("LAST USED") && row("  unused  ").contains("  never  "), "{table}");
    assert!(!row("  used  ").contains("never"), "{table}");

    // A server records later uses, and keeps the times of credentials that it has not seen.
    let first = last_use(dir, text(&key, "id"));
    let server = dir.serve("--log warn");
    assert_eq!(server.get("/api/v1/me", text(&key, "token")).0, 200);
    assert_eq!(server.stop_with("INT").0, Some(0));
    assert!(last_use(dir, text(&key, "id")) > first);
    assert!(last_use(dir, text(&oauth, "id")).is_some());
}

/// Starts a server, uses the key once, stops the server, and returns its log.
fn use_key_and_return_log(dir: &TestDir, key: &Value, options: &str) -> String {
    let observed = Observed::start(dir, options);
    assert_eq!(observed.server.get("/api/v1/courses", text(key, "token")).0, 200);
    observed.stop_and_read_log()
}

/// `--no-migrate` only prevents the creation and migration of tables.
#[test]
fn uses_are_recorded_with_no_migrate() {
    let dir = TestDir::with_courses();
    let key = dir.run(&format!("{CREATE} n")).json();
    let log = use_key_and_return_log(&dir, &key, "--no-migrate");
    assert!(!log.contains("last use"), "{log}");
    assert!(last_use(&dir, text(&key, "id")).is_some());
}

#[test]
fn read_only_database_causes_one_warning() {
    let dir = TestDir::with_courses();
    let key = dir.run(&format!("{CREATE} n")).json();
    dir.set_mode("catalogue.db", 0o444);
    let log = use_key_and_return_log(&dir, &key, "");
    dir.set_mode("catalogue.db", 0o644);
    let lines: Vec<_> = log.lines().filter(|line| line.contains("last use")).collect();
    assert!(lines.len() == 1 && lines[0].contains("WARN") && lines[0].contains("read-only"), "{log}");
    assert_eq!(last_use(&dir, text(&key, "id")), None);
}
