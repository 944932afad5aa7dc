//! SIGHUP if the configuration file is a named pipe: during startup, and while no process writes to the pipe.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use crate::program::{DEADLINE, Server, TestDir, send_signal};
use crate::systemd::{message, notify_socket};

/// Starts a server that reads its settings from a pipe. Calls `before` when the server has opened the pipe, before the write.
/// Kills the server after [`DEADLINE`], unless the returned sender is dropped before.
fn start(dir: &TestDir, command: &mut Command, before: impl FnOnce(u32) + Send + 'static) -> (Server, Sender<()>) {
    let pipe = dir.path("settings");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (finished, done) = channel();
    command.args(["--config", "settings"]);
    let server = Server::start_with(command, move |id| {
        let settings = pipe.clone();
        thread::spawn(move || {
            if done.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                send_signal(id, "KILL");
                // Unblocks a writer that waits for a reader.
                let _ = File::options().read(true).write(true).open(pipe);
            }
        });
        write(settings, || before(id));
    });
    (server, finished)
}

/// Writes the settings. Opening the pipe waits until the server has opened the other end.
fn write(settings: PathBuf, before: impl FnOnce()) {
    let mut settings = File::options().write(true).open(settings).unwrap();
    before();
    settings.write_all(b"log = 'info'\n").unwrap();
}

/// The configuration file is a pipe, so that the server waits while it reads its settings.
#[test]
fn hangup_before_settings_are_read_is_ignored() {
    let dir = TestDir::new();
    let mut command = dir.command("serve --listen 127.0.0.1:0");
    command.stderr(Stdio::null());
    let (server, _finished) = start(&dir, &mut command, |id| send_signal(id, "HUP"));
    assert_eq!(server.get("/docs", "").0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

#[test]
fn blocked_reload_delays_neither_requests_nor_shutdown() {
    let dir = TestDir::new();
    let socket = notify_socket(&dir);
    let mut command = dir.command("serve --listen 127.0.0.1:0");
    command.env("NOTIFY_SOCKET", dir.path("notify")).stderr(File::create(dir.path("log")).unwrap());
    let (server, _finished) = start(&dir, &mut command, |_| {});
    server.signal("HUP");
    while !message(&socket).starts_with("RELOADING=1") {}
    assert_eq!(server.get("/docs", "").0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
    let log = fs::read_to_string(dir.path("log")).unwrap();
    assert!(log.contains("stopped") && !log.contains("keeping the current one"), "the reload ended: {log}");
}
