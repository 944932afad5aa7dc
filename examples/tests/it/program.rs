//! Runs the built examples, and stops those that serve.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::http::{TestResponse, request};

/// Returns the command of an example. `cargo test -p catalogue-examples` builds it; with `--test it`, it is not rebuilt.
pub(crate) fn example(name: &str) -> Command {
    #[cfg(target_os = "linux")]
    crate::inherited_signals::handle();
    let tests = std::env::current_exe().unwrap();
    let path: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build -p catalogue-examples --examples", path.display());
    Command::new(path)
}

/// A running host application, killed when this value is dropped.
pub(crate) struct Host {
    process: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Host {
    /// Starts an example on `database`, and waits until it listens.
    pub(crate) fn start(name: &str, database: &str) -> Self {
        Self::start_with(name, &["--database", database])
    }

    /// Starts an example with `options`, and waits until it listens.
    pub(crate) fn start_with(name: &str, options: &[&str]) -> Self {
        let mut command = example(name);
        command.args(options).args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        // Created first, so that a failure below ends the example too.
        let mut host = Self { process, out, address: String::new() };
        let address = line.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix('\n'));
        host.address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        host
    }

    pub(crate) fn send(&self, method: &str, target: &str, headers: &str) -> TestResponse {
        TestResponse::to(&self.address, &request(method, target, headers, ""))
    }

    pub(crate) fn get(&self, target: &str, token: &str) -> TestResponse {
        self.send("GET", target, &format!("Authorization: Bearer {token}\n"))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends SIGTERM or SIGINT.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits until no connection is accepted any more.
    pub(crate) fn wait_until_closed(&self) {
        while TcpStream::connect(&self.address).is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for the end. Returns the status and the rest of standard output and standard error.
    pub(crate) fn output(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.process.wait().unwrap().code(), out, err)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Does nothing if the example has ended already, as in a successful test.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
