//! Commands for keys, tokens, links and accounts that wait while another program writes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::databases::on_each_database;
use crate::program::{COURSES, TestDir};

on_each_database!(credential_commands_wait_for_other_writers);

/// Starts a command, and waits until it has logged that it waits.
fn start_waiting(dir: &TestDir, arguments: &str) -> Child {
    let mut command = dir.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut message = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut message).unwrap();
    let expected = "waiting for another program that is writing to the database timeout=60s";
    assert!(message.contains(expected), "{arguments}: {message}");
    child
}

fn credential_commands_wait_for_other_writers(dir: &TestDir) {
    dir.import(COURSES);
    let [(revoked, _), (rotated, _)] = ["a", "a"].map(|account| dir.key(account));
    let other = dir.host();
    other.run(match dir.is_postgres() {
        true => "BEGIN; LOCK TABLE credentials, sign_ins IN SHARE MODE",
        false => "BEGIN IMMEDIATE",
    });
    let waiting = [
        &format!("keys revoke {revoked}"),
        &format!("keys rotate {rotated}"),
        "keys create --account a --name n --scope read:courses",
        "tokens create --account a --scope read:courses",
        "settings link --account a --settings-url /settings",
        "settings sign-out --account a",
        "accounts remove b --yes",
    ]
    .map(|arguments| start_waiting(dir, arguments));
    other.run("COMMIT");
    for child in waiting {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    }
    let listed = dir.run("keys list --account a --json").json();
    assert_eq!(listed.as_array().unwrap().len(), 5);
    assert!(listed[0]["revokedAt"].is_string(), "{listed}");
}
