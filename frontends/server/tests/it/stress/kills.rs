//! SIGKILL at any moment during an import, and while a server makes changes.

use std::fmt::Write as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::databases::on_each_database;
use crate::developer_settings::visitor::Visitor;
use crate::program::{COURSES, TestDir, text};

on_each_database!(
    #[ignore = "a stress test"]
    import_survives_200_sigkills,
    #[ignore = "a stress test"]
    server_keeps_changes_across_200_sigkills,
);

const KILLS: u32 = 200;

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

/// Killed imports are complete or absent.
fn import_survives_200_sigkills(dir: &TestDir) {
    let texts = ["One", "Two"].map(courses);
    let files = ["one.jsonl", "two.jsonl"];
    files.iter().zip(&texts).for_each(|(file, text)| dir.write(file, text));
    dir.run("import one.jsonl --prune").succeeds();
    let began = Instant::now();
    dir.run("import two.jsonl --prune").succeeds();
    let (takes, mut is_second, mut done) = (began.elapsed(), true, 0);
    for kill in 0..KILLS {
        let mut import = dir.command(&format!("import {} --prune", files[usize::from(!is_second)]));
        let mut child = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(takes * kill / KILLS);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until_session_has_ended(dir);
        let found = dir.export();
        if found == texts[usize::from(!is_second)] {
            (is_second, done) = (!is_second, done + 1);
        } else {
            assert!(found == texts[usize::from(is_second)], "kill {kill} left a part: {} bytes", found.len());
        }
    }
    assert_whole(dir);
    println!("{KILLS} kills of an import: {done} imports were complete, the others had changed nothing");
}

/// Waits until PostgreSQL has ended the killed session.
fn wait_until_session_has_ended(dir: &TestDir) {
    let others = "SELECT CAST(pid AS TEXT) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    while dir.is_postgres() && !dir.host().texts(others).is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Changes with a response survive kills. The last change, without a response, may be made or not.
fn server_keeps_changes_across_200_sigkills(dir: &TestDir) {
    dir.import(COURSES);
    let serve = || dir.serve("--settings-url /settings --log off");
    let server = serve();
    let mut owner = Visitor::of(&server.address);
    owner.sign_in(&dir.run("settings link --account a --settings-url /settings").succeeds());
    let (id, token) = owner.create_key("0");
    drop(server);
    let (mut may_be, mut number, mut in_doubt) = (vec!["0".to_owned()], 0, 0);
    for kill in 0..KILLS {
        let server = serve();
        let owner = owner.at(&server.address);
        let keys: Value = serde_json::from_str(&owner.get("/settings/api/keys").body).unwrap();
        let found = text(&keys["data"][0], "name").to_owned();
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
    assert_whole(dir);
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

fn assert_whole(dir: &TestDir) {
    if !dir.is_postgres() {
        assert_eq!(dir.host().texts("PRAGMA integrity_check"), ["ok"]);
    }
}
