//! A key counts as it stands when the request arrives.

use std::time::{SystemTime, UNIX_EPOCH};

use super::fixture::{Fixture, Key};
use super::{DETAIL, LIST};
use crate::program::Server;

fn microseconds_now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()
}

#[test]
fn a_revoked_key_is_refused_at_once() {
    let mut fixture = Fixture::new();
    fixture.dir.run(&format!("keys revoke {}", fixture.key.id)).succeeds();
    fixture.assert_refused("revoked");
}

#[test]
fn a_key_works_as_soon_as_it_is_made() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        let key = Key::create(&fixture.dir, "catalogue.db");
        let mut readers = fixture.new_connections(&key.token);
        for reader in &mut readers {
            assert_eq!(reader.ask(LIST, "").status, 200);
        }
        fixture.dir.run(&format!("keys revoke {}", key.id)).succeeds();
        for reader in &mut readers {
            assert_eq!(reader.ask(LIST, "").status, 401);
        }
    }
}

#[test]
fn a_key_that_was_rotated_without_an_overlap_is_refused() {
    let fixture = Fixture::new();
    let key = Key::create(&fixture.dir, "catalogue.db");
    fixture.dir.run(&format!("keys rotate {} --overlap 0s", key.id)).succeeds();
    for mut reader in fixture.new_connections(&key.token) {
        let response = reader.ask(LIST, "");
        assert!(response.status == 401 && response.body.contains("expired"), "{response:?}");
    }
}

#[test]
fn plain_sql_revokes_restores_removes_and_moves_a_key() {
    let mut fixture = Fixture::new();
    let mut sql = fixture.sql();
    sql.run("CREATE TEMP TABLE kept AS SELECT * FROM credentials");
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
        sql.run("INSERT INTO credentials SELECT * FROM kept");
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

/// The file stays as it is: only the clock says that the key has expired.
#[test]
fn a_key_expires_by_the_clock_alone() {
    let mut fixture = Fixture::new();
    let expiry = microseconds_now() + 300_000;
    fixture.sql().run(&format!("UPDATE credentials SET expires_at = {expiry}"));
    for reader in &mut fixture.readers {
        loop {
            let sent = microseconds_now();
            let response = reader.ask_again(LIST);
            // What came back before the expiry was accepted, what was sent after it was refused.
            if sent >= expiry {
                assert!(response.status == 401 && response.body.contains("expired"), "{response:?}");
                break;
            }
            assert!(response.status == 304 || microseconds_now() >= expiry, "{response:?}");
        }
    }
    fixture.assert_refused("expired");
}

/// What a server records at its end is committed beside the courses, and changes none of them.
#[test]
fn a_recorded_use_makes_nothing_new() {
    let mut fixture = Fixture::new();
    let server = Server::start(&mut fixture.dir.command("serve --listen 127.0.0.1:0 --log off"));
    assert_eq!(server.get(LIST, &fixture.key.token).0, 200);
    assert_eq!(server.end_by("TERM").0, Some(0));
    assert!(fixture.dir.run("keys list --account a --json").json()[0]["lastUsedAt"].is_string());
    fixture.assert_not_modified();
}
