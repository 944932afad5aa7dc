//! Pages of a running server, as an owner uses them.

use std::process::Stdio;

use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::databases::on_each_database;
use crate::observed::Observed;
use crate::program::{COURSES, Server, TestDir};

on_each_database!(servers_share_links_sessions_and_keys);

#[test]
fn demo_owner_creates_key_that_works_until_revoked() {
    let dir = TestDir::new();
    let mut server = Server::start(dir.command("demo --listen 127.0.0.1:0").stderr(Stdio::piped()));
    let mut notes = server.take_log().map(Result::unwrap);
    assert!(notes.any(|line| line == "Developer settings (the link works once, for 15 minutes):"));
    let link = notes.find(|line| !line.is_empty()).unwrap();
    assert!(link.starts_with(&format!("http://{}/settings/sign-in#csin_", server.address)), "{link}");
    let mut owner = Visitor::of(&server.address);
    assert_eq!(owner.sign_in(&link).status, 303);
    assert_eq!(Visitor::of(&server.address).sign_in(&link).status, 401, "a link works once");
    let (id, token) = owner.create_key("partner");
    assert_eq!(server.get("/api/v1/courses", &token).0, 200);
    assert_eq!(owner.post(&format!("/settings/keys/{id}/revoke"), "").status, 303);
    assert_eq!(server.get("/api/v1/courses", &token).0, 401);
    let (_, reference) = server.get("/docs/openapi.json", "");
    assert!(reference.to_string().contains(&format!("http://{}/settings", server.address)));
    for (status, operation) in
        [(303, "settings.sign_in"), (401, "settings.sign_in"), (201, "settings.create_key"), (200, "listCourses")]
    {
        let pieces = [format!("operation=\"{operation}\""), format!("status={status} ")];
        assert!(notes.any(|line| pieces.iter().all(|piece| line.contains(piece))), "{pieces:?}");
    }
}

/// Both servers are over one database.
fn servers_share_links_sessions_and_keys(dir: &TestDir) {
    dir.import(COURSES);
    let servers = [dir.serve("--settings-url /settings"), dir.serve("--settings-url /settings")];
    let link = dir.run("settings link --account a --settings-url /settings").succeeds();
    let mut owner = Visitor::of(&servers[0].address);
    let signed_in = owner.sign_in(&link);
    assert!(signed_in.status == 303 && signed_in.head.contains("HttpOnly"), "{signed_in:?}");
    let other = owner.at(&servers[1].address);
    assert_eq!(other.get("/settings").status, 200);
    assert_eq!(Visitor::of(&servers[1].address).sign_in(&link).status, 401, "a link works once");
    let (id, token) = other.create_key("partner");
    assert!(servers.iter().all(|server| server.get("/api/v1/courses", &token).0 == 200));
    assert_eq!(owner.post(&format!("/settings/keys/{id}/revoke"), "").status, 303);
    assert!(servers.iter().all(|server| server.get("/api/v1/courses", &token).0 == 401));
    assert_eq!(dir.run("settings sign-out --account a").succeeds(), "ended 1 links and sessions of a\n");
    for owner in [&owner, &other] {
        let refused = owner.get("/settings");
        assert!(refused.status == 303 && refused.head.contains("why=revoked"), "{refused:?}");
    }
    let log = dir.run("keys log --account a --json").json();
    assert_eq!((&log[0]["action"], &log[1]["action"]), (&"signed_out".into(), &"key_revoked".into()), "{log}");
}

#[test]
fn keys_log_lists_changes_by_owner_and_operator() {
    let dir = TestDir::with_courses();
    let server = dir.serve("--settings-url /settings");
    let (first, _) = dir.key("a");
    let link = dir.run("settings link --account a --settings-url /settings").succeeds();
    let mut owner = Visitor::of(&server.address);
    owner.sign_in(&link);
    let (id, _) = owner.create_key("partner");
    dir.run(&format!("keys rotate {first} --overlap 1h")).succeeds();
    dir.run(&format!("keys revoke {id}")).succeeds();
    dir.run(&format!("keys revoke {id}")).succeeds();
    dir.run("tokens create --account a --scope read:courses").succeeds();
    let log = dir.run("keys log --account a --json").json();
    let output: Vec<Value> = log
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|event| json!([event["action"], event["actor"], event["keyName"]]))
        .collect();
    assert_eq!(
        Value::from(output),
        json!([
            ["key_created", "operator", "n"],
            ["link_made", "operator", null],
            ["signed_in", "owner", null],
            ["key_created", "owner", "partner"],
            ["key_rotated", "operator", "n"],
            ["key_revoked", "operator", "partner"],
            ["key_created", "operator", null],
        ])
    );
    assert_eq!(log[1]["keyId"], *id);
    let table = dir.run("keys log --account a").succeeds();
    assert!(table.starts_with("TIME (UTC)") && table.lines().count() == 8 && table.contains(&id), "{table}");
    assert_eq!(dir.run("keys log --account b").succeeds().lines().count(), 1);
}

#[test]
fn requests_are_logged_and_counted_without_secrets() {
    let dir = TestDir::with_courses();
    let link = dir.run("settings link --account a --settings-url /settings").succeeds();
    let (_, code) = link.trim_end().split_once('#').unwrap();
    let observed = Observed::start(&dir, "--settings-url /settings --log-format json");
    let address = &observed.server.address;
    let counts =
        || observed.metrics().into_iter().filter(|(name, _)| name.starts_with("catalogue_settings_requests_total"));
    let names = |counts: &mut dyn Iterator<Item = (String, f64)>| counts.map(|(name, _)| name).collect::<Vec<_>>();
    let before = names(&mut counts());
    assert!(!before.is_empty() && counts().all(|(_, count)| count == 0.0), "{before:?}");
    let mut owner = Visitor::of(address);
    owner.sign_in(&link);
    let session = owner.get("/settings").head;
    assert!(!session.contains("set-cookie"), "{session}");
    let (id, token) = owner.create_key("s3cret");
    owner.get(&format!("/settings/keys/{id}?name=s3cret"));
    owner.get("/settings/s3cret");
    Visitor::of(address).sign_in(&link);
    for method in ["DELETE", "OPTIONS"] {
        owner.send(method, "/settings/check", &[], "");
    }
    Visitor::of(address).send("POST", "/settings/check", &[], "");
    owner.send("POST", "/settings/check", &["Sec-Fetch-Site: same-origin", "Content-Type: text/plain"], "");
    assert_eq!(names(&mut counts()), before);
    let metrics = observed.metrics();
    for (action, status, count) in [
        ("sign_in", 303, 1.0),
        ("sign_in", 401, 1.0),
        ("list_keys", 200, 2.0),
        ("create_key", 201, 1.0),
        ("none", 404, 1.0),
        ("none", 405, 1.0),
        ("none", 204, 1.0),
        ("check", 403, 1.0),
        ("check", 415, 1.0),
        ("rotate_key", 500, 0.0),
    ] {
        let name = format!("catalogue_settings_requests_total{{action=\"{action}\",status=\"{status}\"}}");
        assert_eq!(metrics.get(&name), Some(&count), "{name}");
    }
    let log = observed.stop_and_read_log();
    let metrics = format!("{metrics:?}");
    for secret in [code, &code[5..], &token, "s3cret", &id[4..20]] {
        assert!(!metrics.contains(secret), "{secret}");
        // Only the audit line of its change contains the key's id.
        let lines = log.lines().filter(|line| line.contains(secret));
        assert!(lines.clone().all(|line| line.contains("catalogue::audit") && id.contains(secret)), "{secret}: {log}");
    }
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entry = lines.clone().find(|line| line["operation"] == "settings.create_key").unwrap();
    assert_eq!(
        (&entry["method"], &entry["status"], &entry["account"]),
        (&json!("POST"), &json!(201), &json!("a")),
        "{entry}"
    );
    assert!(entry["request_id"].is_string() && entry["duration_us"].is_u64() && entry["client"].is_null(), "{entry}");
    let refused = lines.clone().find(|line| line["status"] == 401).unwrap();
    assert_eq!((&refused["operation"], &refused["client"]), (&json!("settings.sign_in"), &json!("127.0.0.1")));
    assert!(lines.filter(|line| line["target"] == "catalogue::audit").count() == 2, "{log}");
}
