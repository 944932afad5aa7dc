//! SIGKILL at any moment during an import, and while a server makes changes.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;

use crate::developer_settings::visitor::Visitor;
use crate::postgres::fixture::Fixture;
use crate::program::{COURSES, Outcome, Server, TestDir};

const KILLS: u32 = 200;

type Start<'s> = &'s dyn Fn(&str) -> Command;

/// Returns an export of accounts with many courses.
fn courses(title: &str) -> String {
    let mut lines = COURSES.lines();
    let mut text: String = lines.by_ref().take(2).map(|account| format!("{account}\n")).collect();
    let course = lines.next().unwrap();
    for number in 0..300 {
        let slug = format!(r#""slug":"c{number:03}","title":"{title}""#);
        writeln!(text, "{}", course.replace(r#""slug":"one","title":"One""#, &slug)).unwrap();
    }
    text
}

fn run(start: Start<'_>, arguments: &str) -> String {
    Outcome::from(start(arguments).output().unwrap()).succeeds()
}

/// Asserts that killed imports are complete or absent. `settle` waits until the database has ended the killed session.
fn kill_imports(dir: &TestDir, start: Start<'_>, settle: &dyn Fn()) {
    let texts = ["One", "Two"].map(courses);
    let files = ["one.jsonl", "two.jsonl"];
    files.iter().zip(&texts).for_each(|(file, text)| dir.write(file, text));
    run(start, "import one.jsonl --prune");
    let began = Instant::now();
    run(start, "import two.jsonl --prune");
    let (takes, mut is_second, mut done) = (began.elapsed(), true, 0);
    for kill in 0..KILLS {
        let mut import = start(&format!("import {} --prune", files[usize::from(!is_second)]));
        let mut child = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(takes * kill / KILLS);
        child.kill().unwrap();
        child.wait().unwrap();
        settle();
        let found = run(start, "export");
        if found == texts[usize::from(!is_second)] {
            (is_second, done) = (!is_second, done + 1);
        } else {
            assert!(found == texts[usize::from(is_second)], "kill {kill} left a part: {} bytes", found.len());
        }
    }
    println!("{KILLS} kills of an import: {done} imports were complete, the others had changed nothing");
}

/// Asserts that changes with a response survive kills. The last change, without a response, may be made or not.
fn kill_servers(start: Start<'_>) {
    let serve = "serve --listen 127.0.0.1:0 --settings-url /settings --log off";
    let server = Server::start(&mut start(serve));
    let mut owner = Visitor::of(&server.address);
    owner.sign_in(&run(start, "settings link --account a --settings-url /settings"));
    let (id, token) = owner.create_key("0");
    drop(server);
    let (mut may_be, mut number, mut in_doubt) = (vec!["0".to_owned()], 0, 0);
    for kill in 0..KILLS {
        let server = Server::start(&mut start(serve));
        let owner = owner.at(&server.address);
        let keys: Value = serde_json::from_str(&owner.get("/settings/api/keys").body).unwrap();
        let found = keys["data"][0]["name"].as_str().unwrap().to_owned();
        assert!(may_be.contains(&found), "kill {kill}: {found:?} is not one of {may_be:?}");
        in_doubt += usize::from(found != may_be[0]);
        may_be = vec![found];
        assert_eq!(server.get("/api/v1/courses", &token).0, 200);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(u64::from(kill % 50)));
                server.signal("KILL");
            });
            // The limit is 30 changes a minute for an account.
            for _ in 0..29 {
                number += 1;
                let name = number.to_string();
                if rename(&owner, &id, &name).is_none() {
                    may_be.push(name);
                    break;
                }
                may_be = vec![name];
            }
        });
        server.wait();
    }
    println!(
        "{KILLS} kills of a server under {number} changes: changes with a response stayed, and {in_doubt} without one"
    );
}

/// Renames a key. Returns `None` if the response is missing or incomplete.
fn rename(owner: &Visitor, id: &str, name: &str) -> Option<()> {
    let json = format!(r#"{{"name":"{name}"}}"#);
    let response = owner.try_send("PATCH", &format!("/settings/api/keys/{id}"), &[JSON], &json)?;
    if !response.body.ends_with("}}") {
        return None;
    }
    assert_eq!(response.status, 200, "{response:?}");
    Some(())
}

const JSON: &str = "Content-Type: application/json";

#[test]
#[ignore = "a stress test"]
fn sqlite_import_survives_200_sigkills() {
    let dir = TestDir::in_memory();
    kill_imports(&dir, &|arguments| dir.command(arguments), &|| {});
    assert_whole(&dir);
}

#[test]
#[ignore = "a stress test"]
fn postgresql_import_survives_200_sigkills() {
    let Some(fixture) = Fixture::new() else { return };
    let host = fixture.session();
    let others = "SELECT CAST(pid AS TEXT) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    kill_imports(&fixture.dir, &|arguments| fixture.command(arguments), &|| {
        while !host.texts(others).is_empty() {
            thread::yield_now();
        }
    });
}

#[test]
#[ignore = "a stress test"]
fn sqlite_server_keeps_changes_across_200_sigkills() {
    let dir = TestDir::in_memory();
    dir.write("courses.jsonl", COURSES);
    dir.run("import courses.jsonl").succeeds();
    kill_servers(&|arguments| dir.command(arguments));
    assert_whole(&dir);
}

#[test]
#[ignore = "a stress test"]
fn postgresql_server_keeps_changes_across_200_sigkills() {
    let Some(fixture) = Fixture::with_courses() else { return };
    kill_servers(&|arguments| fixture.command(arguments));
}

fn assert_whole(dir: &TestDir) {
    let database = Connection::open(dir.path("catalogue.db")).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}
