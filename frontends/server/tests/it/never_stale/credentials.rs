//! Credentials: each request sees their state at its arrival.

use std::time::{SystemTime, UNIX_EPOCH};

use super::fixture::{Fixture, Key};
use super::{DETAIL, LIST};
use crate::program::Server;

fn microseconds_now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()
}

#[test]
fn revoked_key_is_refused_by_next_request() {
    let mut fixture = Fixture::new();
    fixture.dir.run(&format!("keys revoke {}", fixture.key.id)).succeeds();
    fixture.assert_refused("revoked");
}

#[test]
fn new_key_is_accepted_by_next_request() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        let key = Key::create(&fixture.dir, "catalogue.db");
        let mut readers = fixture.new_connections(&key.token);
        for reader in &mut readers {
            assert_eq!(reader.get(LIST, "").status, 200);
        }
        fixture.dir.run(&format!("keys revoke {}", key.id)).succeeds();
        for reader in &mut readers {
            assert_eq!(reader.get(LIST, "").status, 401);
        }
    }
}

#[test]
fn key_rotated_without_overlap_is_refused() {
    let fixture = Fixture::new();
    let key = Key::create(&fixture.dir, "catalogue.db");
    fixture.dir.run(&format!("keys rotate {} --overlap 0s", key.id)).succeeds();
    for mut reader in fixture.new_connections(&key.token) {
        let response = reader.get(LIST, "");
        assert!(response.status == 401 && response.body.contains("expired"), "{response:?}");
    }
}

#[test]
fn credential_changes_by_plain_sql_apply_to_next_request() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    sql.run("CREATE TEMP TABLE saved AS SELECT * FROM credentials");
    for _ in 0..5 {
        sql.run("UPDATE credentials SET revoked_at = 1");
        fixture.assert_refused("revoked");
        sql.run("UPDATE credentials SET revoked_at = NULL");
        fixture.assert_not_modified();

        sql.run("UPDATE credentials SET expires_at = 1");
        fixture.assert_refused("expired");
        sql.run("UPDATE credentials SET expires_at = NULL");
        fixture.assert_not_modified();

        sql.run("DELETE FROM credentials");
        fixture.assert_refused("invalid");
        sql.run("INSERT INTO credentials SELECT * FROM saved");
        fixture.assert_not_modified();

        sql.run("UPDATE credentials SET scopes = 'read:profile'");
        fixture.assert_responses(LIST, 403, "insufficient_scope");
        sql.run("UPDATE credentials SET scopes = 'read:courses'");
        fixture.assert_not_modified();

        sql.run("UPDATE credentials SET account_id = 'b'");
        fixture.assert_responses(DETAIL, 200, "Other");
        fixture.assert_responses("/api/v1/me", 200, "\"userId\":\"b\"");
        sql.run("UPDATE credentials SET account_id = 'a'");
        fixture.assert_not_modified();
    }
}

/// The file does not change: only the clock decides that the key has expired.
#[test]
fn key_expires_without_a_commit() {
    let mut fixture = Fixture::new();
    let expiry = microseconds_now() + 300_000;
    fixture.sql().run(&format!("UPDATE credentials SET expires_at = {expiry}"));
    for reader in &mut fixture.readers {
        loop {
            let sent = microseconds_now();
            let response = reader.get_again(LIST);
            // A response that arrives before the expiry accepts the key; a request sent after the expiry is refused.
            if sent >= expiry {
                assert!(response.status == 401 && response.body.contains("expired"), "{response:?}");
                break;
            }
            assert!(response.status == 304 || microseconds_now() >= expiry, "{response:?}");
        }
    }
    fixture.assert_refused("expired");
}

/// A server records uses at shutdown, in the same database as the courses, but changes no course.
#[test]
fn recorded_use_does_not_change_etags() {
    let mut fixture = Fixture::new();
    let server = Server::start(&mut fixture.dir.command("serve --listen 127.0.0.1:0 --log off"));
    assert_eq!(server.get(LIST, &fixture.key.token).0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
    assert!(fixture.dir.run("keys list --account a --json").json()[0]["lastUsedAt"].is_string());
    fixture.assert_not_modified();
}
