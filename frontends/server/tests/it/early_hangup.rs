//! SIGHUP where the configuration file is a named pipe: one that comes while `serve` is about to start, and one that finds
//! nobody who writes to the pipe.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use crate::program::{DEADLINE, Server, TestDir};

/// Starts a server that reads its settings from a pipe. `before` is called once it has opened that, and nothing is written.
fn start(dir: &TestDir, command: &mut Command, before: impl FnOnce(u32) + Send + 'static) -> (Server, Sender<()>) {
    let pipe = dir.path("settings");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (over, done) = channel();
    command.args(["--config", "settings"]);
    let server = Server::start_with(command, move |id| {
        let settings = pipe.clone();
        thread::spawn(move || {
            if done.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                kill("KILL", id);
                // Whoever waits for a reader goes on.
                let _ = File::options().read(true).write(true).open(pipe);
            }
        });
        write(settings, || before(id));
    });
    (server, over)
}

/// Opening waits until the server has opened the other end.
fn write(settings: PathBuf, before: impl FnOnce()) {
    let mut settings = File::options().write(true).open(settings).unwrap();
    before();
    settings.write_all(b"log = 'info'\n").unwrap();
}

fn kill(signal: &str, id: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {id}")]).status().unwrap();
    assert!(sent.success());
}

/// The configuration file is a pipe, so that the server starts no further than to its reading.
#[test]
fn a_hangup_before_the_settings_are_read_ends_nothing() {
    let dir = TestDir::new();
    let mut command = dir.command("serve --listen 127.0.0.1:0");
    command.stderr(Stdio::null());
    let (server, _over) = start(&dir, &mut command, |id| kill("HUP", id));
    assert_eq!(server.get("/docs", "").0, 200);
    assert_eq!(server.end_by("TERM").0, Some(0));
}

#[test]
fn a_hangup_whose_settings_never_come_holds_up_neither_requests_nor_the_end() {
    let dir = TestDir::new();
    let socket = UnixDatagram::bind(dir.path("notify")).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut command = dir.command("serve --listen 127.0.0.1:0");
    command.env("NOTIFY_SOCKET", dir.path("notify")).stderr(File::create(dir.path("log")).unwrap());
    let (server, _over) = start(&dir, &mut command, |_| {});
    server.signal("HUP");
    let output = || {
        let mut output = [0; 1_000];
        let length = socket.recv(&mut output).unwrap();
        String::from_utf8(output[..length].to_vec()).unwrap()
    };
    while !output().starts_with("RELOADING=1") {}
    assert_eq!(server.get("/docs", "").0, 200);
    assert_eq!(server.end_by("TERM").0, Some(0));
    let log = fs::read_to_string(dir.path("log")).unwrap();
    assert!(log.contains("stopped") && !log.contains("stays as it is"), "nobody waited for the pipe: {log}");
}
