//! Rolling upgrade: two servers of an older build are replaced by servers of this build under load, on one database, and no
//! request fails.
//!
//! `CATALOGUE_TEST_OLDER` names the older program; `.ci/upgrade` builds it.

pub(crate) mod clients;

use std::env;
use std::ffi::OsString;
use std::io::{Write as _, stderr};
use std::process::{Command, Stdio};

use clients::Load;
use serde_json::Value;

use crate::databases::on_each_database;
use crate::program::{COURSES, Outcome, Server, TestDir, copy_context, text};
use crate::skip::or_skip_unless;

/// The program of one build, on the test's database.
struct Program<'t> {
    /// Path of the older program; `None` for the program under test.
    older: Option<OsString>,
    dir: &'t TestDir,
}

impl Program<'_> {
    fn command(&self, arguments: &str) -> Command {
        let current = self.dir.command(arguments);
        let Some(older) = &self.older else { return current };
        let mut command = Command::new(older);
        copy_context(&current, command.args(current.get_args()).stdin(Stdio::null()));
        command
    }

    fn run(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    fn serve(&self) -> Server {
        Server::start(&mut self.command("serve --no-migrate --listen 127.0.0.1:0 --log off"))
    }

    fn import(&self, courses: &str) {
        self.dir.write("courses.jsonl", courses);
        self.run("import courses.jsonl --no-migrate").succeeds();
    }

    /// Creates a key and returns its id and token.
    fn key(&self, account: &str) -> (String, String) {
        let key = self.run(&format!("keys create --account {account} --name n --scope read:courses --json")).json();
        ["id", "token"].map(|field| text(&key, field).to_owned()).into()
    }

    /// Makes changes, which the next response of each server must contain. The changes do not affect the account under load.
    fn changes(&self, servers: &[Server], title: &str) {
        self.import(
            &COURSES
                .lines()
                .filter(|line| line.contains("\"b\""))
                .fold(String::new(), |lines, line| format!("{lines}{}\n", line.replace("Other", title))),
        );
        let (id, token) = self.key("b");
        for server in servers {
            assert_eq!(server.get("/api/v1/courses/one", &token).1["data"]["title"], title);
        }
        self.run(&format!("keys revoke {id}")).succeeds();
        for server in servers {
            let (status, refusal) = server.get("/api/v1/me", &token);
            assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &"revoked".into()), "{title}");
        }
    }
}

/// Replaces two servers one by one.
fn rolling_upgrade_fails_no_request(dir: &TestDir) {
    let older = env::var_os("CATALOGUE_TEST_OLDER").ok_or_else(|| "CATALOGUE_TEST_OLDER is not set".to_owned());
    let Some(older) = or_skip_unless("upgrade", older) else { return };
    let [older, newer] = [Some(older), None].map(|older| Program { older, dir });
    older.run("migrate").succeeds();
    older.import(COURSES);
    let (_, token) = older.key("a");
    let mut servers = vec![older.serve(), older.serve()];
    let addresses = servers.iter().map(|server| server.address.clone()).collect();
    Load::run_during(addresses, &token, |load| {
        older.changes(&servers, "before");
        let migrated = newer.run("migrate --json").json();
        newer.changes(&servers, "migrated by the newer program");
        match is_same_version(&migrated) {
            true => older.changes(&servers, "after the migration by the older program"),
            false => older.run("keys list --account b").fails(1, &["made by a newer program"]),
        }
        for number in 0..2 {
            servers.push(newer.serve());
            load.add_address(&servers[2].address);
            load.wait_for_responses();
            newer.changes(&servers, &format!("three servers, {number}"));
            let replaced = servers.remove(0);
            let address = replaced.address.clone();
            assert_eq!(replaced.stop_with("TERM").0, Some(0));
            load.wait_for_responses();
            load.remove_address(&address);
            newer.changes(&servers, &format!("two servers, {number}"));
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
