//! Servers that may read the database's files, but may neither write them nor create files in their directory.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::fixture::{Fixture, change};
use super::sql::Sql;
use crate::program::{COURSES, TestDir};
use crate::skip::or_skip_unless;

/// Makes `command` run as a user without write permission: root ignores permissions.
fn unprivileged(mut command: Command) -> Command {
    command.uid(65534).gid(65534);
    command
}

/// Sets whether the files of the database and their directory are writable.
fn set_writable(dir: &TestDir, writable: bool) {
    let (directory, file) = if writable { (0o755, 0o644) } else { (0o555, 0o444) };
    fs::set_permissions(dir.path("shelf"), Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(dir.path("shelf")).unwrap() {
        fs::set_permissions(entry.unwrap().path(), Permissions::from_mode(file)).unwrap();
    }
    fs::set_permissions(dir.path("shelf"), Permissions::from_mode(directory)).unwrap();
}

/// Returns a function that wraps the servers' command, or `None` if the program cannot run without write permission.
fn server_wrapper(dir: &TestDir) -> Option<fn(Command) -> Command> {
    if File::create(dir.path("shelf/probe")).is_err() {
        return Some(|command| command);
    }
    // By default, only its owner may enter the working directory.
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o755)).unwrap();
    let tried = unprivileged(dir.command("--version")).output();
    let can_run = tried.is_ok_and(|output| output.status.success());
    let wrapper = can_run.then_some(unprivileged as fn(Command) -> Command);
    or_skip_unless("root", wrapper.ok_or_else(|| "the program cannot be started as another user".to_owned()))
}

#[test]
fn server_without_write_access_sees_every_commit() {
    let mut dir = TestDir::in_memory();
    fs::create_dir(dir.path("shelf")).unwrap();
    dir.address = "sqlite:shelf/catalogue.db".to_owned();
    dir.import(COURSES);
    let (_, token) = dir.key("a");
    // While `first` has the database open, WAL and WAL index exist, and read permission is enough.
    let mut first = Sql::open(&dir.database());
    first.run(&change("first"));
    set_writable(&dir, false);
    let Some(wrap) = server_wrapper(&dir) else { return };
    let mut fixture = Fixture::over(&dir, &token, wrap);
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
        set_writable(&dir, true);
        let mut next = fixture.sql();
        let text = format!("next {number}");
        next.run(&change(&text));
        set_writable(&dir, false);
        fixture.assert_new(&text);
        next.kill();
        fixture.assert_not_modified();
    }
    set_writable(&dir, true);
}
