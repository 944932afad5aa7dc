//! Servers that may read the files of the database, and can neither write them nor make others beside them.

use std::fs::{self, File, Permissions};
use std::io::{Write, stderr};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::fixture::{Fixture, Key, change, fill};
use super::sql::Sql;
use crate::program::TestDir;

const DATABASE: &str = "shelf/catalogue.db";

/// Starts a command as a user who may write nothing: the superuser may write all the same.
fn unprivileged(command: &Command) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    wrapped.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    wrapped
}

/// Whether the files of the database and their directory can be written.
fn set_writable(dir: &TestDir, writable: bool) {
    let (directory, file) = if writable { (0o755, 0o644) } else { (0o555, 0o444) };
    fs::set_permissions(dir.path("shelf"), Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(dir.path("shelf")).unwrap() {
        fs::set_permissions(entry.unwrap().path(), Permissions::from_mode(file)).unwrap();
    }
    fs::set_permissions(dir.path("shelf"), Permissions::from_mode(directory)).unwrap();
}

/// How the servers are started, where they can be.
fn start_of_servers(dir: &TestDir) -> Option<fn(Command) -> Command> {
    if File::create(dir.path("shelf/probe")).is_err() {
        return Some(|command| command);
    }
    // Its owner gave the working directory to nobody else.
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o755)).unwrap();
    let tried = unprivileged(&dir.command("--version")).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return Some(|command| unprivileged(&command));
    }
    // Past the capture of the test's own output, so that it is seen.
    stderr().write_all(b"skipped: read-only files: setpriv cannot start the program as another user\n").unwrap();
    None
}

#[test]
fn every_commit_of_somebody_who_may_write() {
    let dir = TestDir::in_memory();
    fs::create_dir(dir.path("shelf")).unwrap();
    fill(&dir, DATABASE);
    let key = Key::create(&dir, DATABASE);
    // Log and index are there as long as somebody has the database open, and whoever may read them can read.
    let mut first = Sql::open(&dir.path(DATABASE));
    first.run(&change("first"));
    set_writable(&dir, false);
    let Some(start) = start_of_servers(&dir) else { return };
    let mut fixture = Fixture::with_servers(dir, DATABASE, key, start);
    for number in 0..20 {
        let text = format!("number {number}");
        first.run(&change(&text));
        fixture.assert_new(&text);
        first.run("PRAGMA wal_checkpoint(TRUNCATE)");
        fixture.assert_not_modified();
    }
    first.close();
    fixture.assert_not_modified();
    for number in 0..5 {
        set_writable(&fixture.dir, true);
        let mut next = fixture.sql();
        let text = format!("next {number}");
        next.run(&change(&text));
        set_writable(&fixture.dir, false);
        fixture.assert_new(&text);
        next.kill();
        fixture.assert_not_modified();
    }
    set_writable(&fixture.dir, true);
}
