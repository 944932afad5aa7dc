//! Commands for keys, tokens, links and accounts that wait while another program writes.

use crate::databases::on_each_database;
use crate::program::{COURSES, RunningCommand, TestDir};

on_each_database!(credential_commands_wait_for_other_writers);

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
    .map(|arguments| RunningCommand::start(&mut dir.command(arguments)));
    let waiting = waiting.map(|mut command| {
        let message = command.notes_until("").remove(0);
        let expected = "waiting for another program that is writing to the database timeout=60s";
        assert!(message.contains(expected), "{message}");
        command
    });
    other.run("COMMIT");
    for command in waiting {
        let outcome = command.finish();
        assert!(outcome.status == Some(0) && !outcome.out.is_empty(), "{outcome:?}");
    }
    let listed = dir.run("keys list --account a --json").json();
    assert_eq!(listed.as_array().unwrap().len(), 5);
    assert!(listed[0]["revokedAt"].is_string(), "{listed}");
}
