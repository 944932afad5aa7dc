//! Changes by commands and by plain SQL, on each database.

use std::time::{SystemTime, UNIX_EPOCH};

use super::fixture::{Fixture, change};
use super::{DETAIL, LIST, PAGE};
use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir};

on_each_database!(
    credential_changes_apply_to_next_request,
    imports_appear_in_next_response,
    key_expires_without_a_commit,
    plain_sql_changes_appear_in_next_response,
);

fn imports_appear_in_next_response(dir: &TestDir) {
    let mut fixture = Fixture::new(dir);
    let three = "/api/v1/courses/three";
    let added = COURSES.replace("\"zwei\"", "\"three\"").replace("2021-01-01T", "2023-01-01T");
    for number in 0..3 {
        let (title, module) = (format!("Title {number}"), format!("Module {number}"));
        let changed = COURSES.replace("Zwei", &title).replace("One", &title);
        dir.import(&changed);
        fixture.assert_new(&title);
        let changed = changed.replace("\"M\"", &format!("\"{module}\""));
        dir.import(&changed);
        fixture.assert_new_at(DETAIL, &module);
        fixture.assert_new_at(LIST, &title);
        fixture.assert_new_at(PAGE, &title);
        // Neither an unchanged course nor a failed import is a change.
        dir.import(&changed);
        dir.run_reading(format!("{COURSES}{{}}"), "import -").fails(1, &["line 6"]);
        fixture.assert_not_modified();

        fixture.assert_responses(three, 404, "not_found");
        dir.import(&added);
        fixture.assert_new_at(three, "Zwei");
        fixture.assert_new_at(LIST, "three");
        fixture.assert_new_at(PAGE, "three");
        dir.write("courses.jsonl", &changed);
        dir.run("import courses.jsonl --prune").succeeds();
        fixture.assert_responses(three, 404, "not_found");
        for path in [LIST, PAGE] {
            assert!(fixture.readers.iter_mut().all(|reader| !reader.get(path, "").body.contains("three")), "{path}");
        }
    }
}

fn plain_sql_changes_appear_in_next_response(dir: &TestDir) {
    let mut fixture = Fixture::new(dir);
    let host = dir.host();
    for number in 0..100 {
        let text = format!("number {number}");
        host.run(&change(&text));
        fixture.assert_new(&text);
        if number % 4 == 0 {
            host.run(&format!("UPDATE modules SET summary = 'of {text}'"));
            fixture.assert_new_at(DETAIL, &format!("of {text}"));
            fixture.assert_new_at(LIST, &text);
            fixture.assert_new_at(PAGE, &text);
        }
    }
    for number in 0..10 {
        let text = format!("last number {number}");
        host.run(&format!("BEGIN; {}; ROLLBACK", change("never")));
        host.run(&format!("UPDATE courses SET title = '{text}' WHERE account_id = 'b'"));
        fixture.assert_not_modified();
        host.run(&format!("BEGIN; {}", change(&text)));
        fixture.assert_not_modified();
        host.run("COMMIT");
        fixture.assert_new(&text);
    }
    host.run("DELETE FROM courses WHERE account_id = 'a'");
    fixture.assert_responses(LIST, 200, "\"data\":[]");
    fixture.assert_responses(DETAIL, 404, "not_found");
}

fn credential_changes_apply_to_next_request(dir: &TestDir) {
    let mut fixture = Fixture::new(dir);
    for _ in 0..3 {
        let (id, token) = dir.key("a");
        let mut readers = fixture.new_connections(&token);
        assert!(readers.iter_mut().all(|reader| reader.get(LIST, "").status == 200));
        dir.run(&format!("keys rotate {id} --overlap 0s")).succeeds();
        assert!(readers.iter_mut().all(|reader| reader.get(LIST, "").body.contains("\"reason\":\"expired\"")));
        dir.run(&format!("keys revoke {id}")).succeeds();
        assert!(readers.iter_mut().all(|reader| reader.get(LIST, "").body.contains("\"reason\":\"revoked\"")));
    }
    let host = dir.host();
    host.run("CREATE TEMP TABLE saved AS SELECT * FROM credentials");
    for _ in 0..3 {
        for (change, reason, undo) in [
            ("UPDATE credentials SET revoked_at = 1", "revoked", "UPDATE credentials SET revoked_at = NULL"),
            ("UPDATE credentials SET expires_at = 1", "expired", "UPDATE credentials SET expires_at = NULL"),
            ("DELETE FROM credentials", "invalid", "INSERT INTO credentials SELECT * FROM saved"),
        ] {
            host.run(change);
            fixture.assert_refused(reason);
            host.run(undo);
            fixture.assert_not_modified();
        }
        host.run("UPDATE credentials SET scopes = 'read:profile'");
        fixture.assert_responses(LIST, 403, "insufficient_scope");
        host.run("UPDATE credentials SET scopes = 'read:courses'");
        fixture.assert_not_modified();

        host.run("UPDATE credentials SET account_id = 'b'");
        fixture.assert_responses(DETAIL, 200, "Other");
        fixture.assert_responses("/api/v1/me", 200, "\"userId\":\"b\"");
        host.run("UPDATE credentials SET account_id = 'a'");
        fixture.assert_not_modified();
    }
}

/// The database does not change: only the clock decides that the key has expired.
fn key_expires_without_a_commit(dir: &TestDir) {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    let mut fixture = Fixture::new(dir);
    let expiry = now() + 300_000;
    dir.host().run(&format!("UPDATE credentials SET expires_at = {expiry}"));
    for reader in &mut fixture.readers {
        loop {
            let sent = now();
            let response = reader.get_again(LIST);
            // A response that arrives before the expiry accepts the key; a request sent after the expiry is refused.
            if sent >= expiry {
                assert!(response.status == 401 && response.body.contains("expired"), "{response:?}");
                break;
            }
            assert!(response.status == 304 || now() >= expiry, "{response:?}");
        }
    }
    fixture.assert_refused("expired");
}
