//! Key rotation, recorded uses, and credential commands that wait for a lock.

use serde_json::json;

use super::fixture::Fixture;
use crate::keys_wait::{self, WaitingCommands};

#[test]
fn rotated_keys_work_on_running_servers_and_uses_are_recorded() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let (id, token) = fixture.key("a");
    let servers = [fixture.serve(""), fixture.serve("")];
    let new = fixture.run(&format!("keys rotate {id} --overlap 1d --json")).json();
    assert_eq!(servers[0].get("/api/v1/me", &token).0, 200);
    let new_id = new["id"].as_str().unwrap();
    let message = format!("{id} already has the successor {new_id}, ");
    fixture.run(&format!("keys rotate {id} --overlap 0s")).fails(1, &[&message, &format!("`keys revoke {id}`")]);
    fixture.run(&format!("keys revoke {id}")).succeeds();
    let next = fixture.run(&format!("keys rotate {new_id}")).out;
    for server in &servers {
        let (status, refusal) = server.get("/api/v1/me", &token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("revoked")));
        assert_eq!(server.get("/api/v1/me", new["token"].as_str().unwrap()).0, 200);
    }
    assert_eq!(servers[0].get("/api/v1/me", next.trim_end()).0, 200);
    for server in servers {
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
    let listed = fixture.run("keys list --account a --json").json();
    let used: Vec<_> = listed.as_array().unwrap().iter().map(|key| key["lastUsedAt"].is_string()).collect();
    assert_eq!(used, [true, true, true], "{listed}");
    fixture.run(&format!("keys rotate {id}")).fails(1, &["was revoked at 2"]);
    for key in [&token, next.trim_end()] {
        let secret = &key[8..48];
        assert!(!fixture.session().texts("SELECT CAST(c AS TEXT) FROM credentials AS c").concat().contains(secret));
    }
}

#[test]
fn credential_commands_wait_for_another_writer() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let keys = [fixture.key("a").0, fixture.key("a").0];
    let other = fixture.session();
    other.run("BEGIN; LOCK TABLE credentials, sign_ins IN SHARE MODE");
    let commands = keys_wait::commands(keys.each_ref().map(String::as_str));
    let waiting = WaitingCommands::start(commands.map(|command| fixture.command(&command)));
    other.run("COMMIT");
    waiting.succeed();
    assert_eq!(fixture.run("keys list --account a --json").json().as_array().unwrap().len(), 5);
}
