//! Servers that may read the files of the database, and can neither write them nor make others beside them.

use std::fs::{self, File, Permissions};
use std::io::{Write, stderr};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::scene::{Key, Scene, change, fill};
use super::sql::Sql;
use crate::program::Place;

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
fn set_writable(place: &Place, writable: bool) {
    let (directory, file) = if writable { (0o755, 0o644) } else { (0o555, 0o444) };
    fs::set_permissions(place.path("shelf"), Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(place.path("shelf")).unwrap() {
        fs::set_permissions(entry.unwrap().path(), Permissions::from_mode(file)).unwrap();
    }
    fs::set_permissions(place.path("shelf"), Permissions::from_mode(directory)).unwrap();
}

/// How the servers are started, where they can be.
fn start_of_servers(place: &Place) -> Option<fn(Command) -> Command> {
    if File::create(place.path("shelf/probe")).is_err() {
        return Some(|command| command);
    }
    // Its owner gave the working directory to nobody else.
    fs::set_permissions(place.path(""), Permissions::from_mode(0o755)).unwrap();
    let tried = unprivileged(&place.command("--version")).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return Some(|command| unprivileged(&command));
    }
    // Past the capture of the test's own output, so that it is seen.
    stderr().write_all(b"skipped: read-only files: setpriv cannot start the program as another user\n").unwrap();
    None
}

#[test]
fn every_commit_of_somebody_who_may_write() {
    let place = Place::in_memory();
    fs::create_dir(place.path("shelf")).unwrap();
    fill(&place, DATABASE);
    let key = Key::create(&place, DATABASE);
    // Log and index are there as long as somebody has the database open, and whoever may read them can read.
    let mut first = Sql::open(&place.path(DATABASE));
    first.run(&change("first"));
    set_writable(&place, false);
    let Some(start) = start_of_servers(&place) else { return };
    let mut scene = Scene::served_by(place, DATABASE, key, start);
    for number in 0..20 {
        let text = format!("number {number}");
        first.run(&change(&text));
        scene.shows(&text);
        first.run("PRAGMA wal_checkpoint(TRUNCATE)");
        scene.shows_nothing_new();
    }
    first.close();
    scene.shows_nothing_new();
    for number in 0..5 {
        set_writable(&scene.place, true);
        let mut next = scene.sql();
        let text = format!("next {number}");
        next.run(&change(&text));
        set_writable(&scene.place, false);
        scene.shows(&text);
        next.kill();
        scene.shows_nothing_new();
    }
    set_writable(&scene.place, true);
}
