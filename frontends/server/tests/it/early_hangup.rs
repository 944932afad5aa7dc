//! SIGHUP that comes while `serve` is about to start.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::program::TestDir;

/// The configuration file is a pipe, so that the server starts no further than to its reading.
#[test]
fn a_hangup_before_the_settings_are_read_ends_nothing() {
    let dir = TestDir::new();
    let made = Command::new("mkfifo").arg(dir.path("settings")).status().unwrap();
    assert!(made.success());
    let mut command = dir.command("serve --listen 127.0.0.1:0 --config settings");
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    // Waits until the server has opened the other end.
    let mut settings = File::options().write(true).open(dir.path("settings")).unwrap();
    let hangup = format!("kill -s HUP {}", server.id());
    assert!(Command::new("sh").args(["-c", &hangup]).status().unwrap().success());
    let written = settings.write_all(b"log = 'warn'\n");
    drop(settings);
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _ = server.kill();
    let status = server.wait().unwrap();
    assert!(written.is_ok() && line.starts_with("listening on http://127.0.0.1:"), "{line:?}, {status}");
}
