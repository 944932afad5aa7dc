//! The systemd protocols of a service, tested without systemd: notifications and inherited sockets.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use crate::https::issue;
use crate::program::{DEADLINE, Outcome, Server, TestDir, copy_context};

const SERVE: &str = "serve --listen 127.0.0.1:0";

/// Returns the next notification to systemd.
pub(crate) fn message(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 1_000];
    let length = socket.recv(&mut buffer).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap().trim_end().to_owned()
}

#[test]
fn readiness_watchdog_and_shutdown_are_notified() {
    let dir = TestDir::new();
    let socket = notify_socket(&dir);
    let mut command = dir.command(SERVE);
    command.env("NOTIFY_SOCKET", dir.path("notify")).env("WATCHDOG_USEC", "20000");
    let server = Server::start(&mut command);
    let address = server.address.clone();
    assert_eq!(message(&socket), format!("READY=1\nSTATUS=listening on http://{address}"));
    for _ in 0..3 {
        assert_eq!(message(&socket), "WATCHDOG=1");
    }
    server.signal("TERM");
    let last = std::iter::repeat_with(|| message(&socket)).find(|message| message != "WATCHDOG=1");
    assert!(last.unwrap().starts_with("STOPPING=1\n"));
}

/// Binds a notification socket instead of systemd.
pub(crate) fn notify_socket(dir: &TestDir) -> UnixDatagram {
    let socket = UnixDatagram::bind(dir.path("notify")).unwrap();
    // A missing notification fails the test instead of blocking it.
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket
}

/// According to the log, each reload rereads the log filter, and the certificate if the server has one.
#[test]
fn begin_and_end_of_reload_are_notified() {
    let dir = TestDir::new();
    issue(&dir);
    for tls in ["", "--tls-cert chain.pem --tls-key key.pem"] {
        let socket = notify_socket(&dir);
        let mut command = dir.command(&format!("{SERVE} {tls}"));
        let log = dir.path("log");
        command.env("NOTIFY_SOCKET", dir.path("notify")).stderr(File::create(&log).unwrap());
        let server = Server::start(&mut command);
        assert!(message(&socket).starts_with("READY=1\nSTATUS="));
        let mut last = 0;
        for _ in 0..2 {
            server.signal("HUP");
            let begin = message(&socket);
            let time = begin.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap_or_else(|| panic!("{begin}"));
            let time: u64 = time.parse().unwrap();
            assert!(time > last);
            last = time;
            assert_eq!(message(&socket), "READY=1");
        }
        server.signal("TERM");
        assert!(message(&socket).starts_with("STOPPING=1\n"));
        assert_eq!(server.wait(), Some(0));
        fs::remove_file(dir.path("notify")).unwrap();
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log.matches("reloaded the log filter").count(), 2, "{log}");
        let expected = if tls.is_empty() { 0 } else { 2 };
        assert_eq!(log.matches("the certificate files are unchanged").count(), expected, "{log}");
    }
}

#[test]
fn missing_notify_socket_is_ignored() {
    let dir = TestDir::new();
    let server = Server::start(dir.command(SERVE).env("NOTIFY_SOCKET", dir.path("missing")));
    assert_eq!(server.get("/docs/openapi.json", "").0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

/// Returns the program with `number` inherited sockets, which are duplicates of `input`.
fn activated(dir: &TestDir, arguments: &str, number: usize, input: Stdio) -> Command {
    let program = dir.command(arguments);
    let mut command = Command::new("sh");
    let script = format!("LISTEN_PID=$$ LISTEN_FDS={number} exec \"$@\" 3<&0 4<&0");
    command.args(["-c", &script, "sh"]).arg(program.get_program()).args(program.get_args());
    copy_context(&program, command.stdin(input));
    command
}

#[test]
fn inherited_socket_serves_queued_clients() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let early = std::net::TcpStream::connect(&address).unwrap();
    let socket = listener.try_clone().unwrap();
    // Binding the address of `--listen` would fail, since this process has it open.
    let arguments = format!("serve --listen {address}");
    let server = Server::start(&mut activated(&dir, &arguments, 1, OwnedFd::from(socket).into()));
    assert_eq!(server.address, address);
    assert_eq!(server.get("/docs/openapi.json", "").0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
    drop(early);
    // The socket is still open here, so the next server can serve it too.
    let server = Server::start(&mut activated(&dir, "serve --wait", 1, OwnedFd::from(listener).into()));
    assert_eq!(server.get("/docs/openapi.json", "").0, 200);
    assert_eq!(server.stop_with("TERM").0, Some(0));
}

#[test]
fn unusable_inherited_sockets_exit_2() {
    let dir = TestDir::new();
    let listener = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap()).into();
    let outcome = |mut command: Command| Outcome::from(command.output().unwrap());
    outcome(activated(&dir, "serve", 2, listener())).fails(2, &["2 sockets", "ListenStream="]);
    let datagrams = OwnedFd::from(UnixDatagram::unbound().unwrap()).into();
    outcome(activated(&dir, "serve", 1, datagrams)).fails(2, &["LISTEN_FDS", "ListenStream="]);
    assert!(dir.files().is_empty(), "no database is created");
}
