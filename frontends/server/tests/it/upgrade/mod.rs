//! Rolling upgrade: two servers of an older build are replaced by servers of this build under load, on one database, and no
//! request fails.
//!
//! `CATALOGUE_TEST_OLDER` names the older program; `.ci/upgrade` builds it.

pub(crate) mod clients;

use std::env;
use std::io::{Write as _, stderr};

use clients::Load;
use serde_json::Value;

use crate::databases::on_each_database;
use crate::program::{COURSES, Server, TestDir};
use crate::skip::or_skip_unless;

fn import(dir: &TestDir, courses: &str) {
    dir.write("courses.jsonl", courses);
    dir.run("import courses.jsonl --no-migrate").succeeds();
}

/// Makes changes with the program of `dir`, which the next response of each server must contain. The changes do not affect the
/// account under load.
fn make_changes(dir: &TestDir, servers: &[Server], title: &str) {
    let lines = COURSES.lines().filter(|line| line.contains("\"b\""));
    import(dir, &lines.map(|line| line.replace("Other", title) + "\n").collect::<String>());
    let (id, token) = dir.key("b");
    for server in servers {
        assert_eq!(server.get("/api/v1/courses/one", &token).1["data"]["title"], title);
    }
    dir.run(&format!("keys revoke {id}")).succeeds();
    for server in servers {
        let (status, refusal) = server.get("/api/v1/me", &token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &"revoked".into()), "{title}");
    }
}

/// Replaces two servers one by one.
fn rolling_upgrade_fails_no_request(newer: &TestDir) {
    let program = env::var_os("CATALOGUE_TEST_OLDER").ok_or_else(|| "CATALOGUE_TEST_OLDER is not set".to_owned());
    let Some(program) = or_skip_unless("upgrade", program) else { return };
    let database = || format!("sqlite:{}", newer.database().display());
    let mut older = TestDir::over(if newer.is_postgres() { newer.address.clone() } else { database() });
    older.program = program.into();
    older.run("migrate").succeeds();
    import(&older, COURSES);
    let (_, token) = older.key("a");
    let serve = |dir: &TestDir| dir.serve("--no-migrate --log off");
    let mut servers = vec![serve(&older), serve(&older)];
    let addresses = servers.iter().map(|server| server.address.clone()).collect();
    Load::run_during(addresses, &token, false, |load| {
        make_changes(&older, &servers, "before");
        let migrated = newer.run("migrate --json").json();
        make_changes(newer, &servers, "migrated by the newer program");
        match is_same_version(&migrated) {
            true => make_changes(&older, &servers, "after the migration by the older program"),
            false => older.run("keys list --account b").fails(1, &["made by a newer program"]),
        }
        for number in 0..2 {
            servers.push(serve(newer));
            load.add_address(&servers[2].address);
            load.wait_for_responses();
            make_changes(newer, &servers, &format!("three servers, {number}"));
            let replaced = servers.remove(0);
            let address = replaced.address.clone();
            assert_eq!(replaced.stop_with("TERM").0, Some(0));
            load.wait_for_responses();
            load.remove_address(&address);
            make_changes(newer, &servers, &format!("two servers, {number}"));
        }
        load.wait_for_responses();
    });
    for server in servers {
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
}

/// Returns `true` if the migration left the schema version unchanged.
fn is_same_version(migrated: &Value) -> bool {
    stderr().write_all(format!("the schema: {migrated}\n").as_bytes()).unwrap();
    migrated["from"] == migrated["to"]
}

on_each_database!(rolling_upgrade_fails_no_request);
