//! The built examples: running them, and stopping those that serve.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::http::{Answer, request};

/// An example, which `cargo test -p catalogue-examples` builds beside the tests; with `--test it` it builds none anew.
pub(crate) fn example(name: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let path: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build -p catalogue-examples --examples", path.display());
    Command::new(path)
}

/// A running host, ended at last with this value.
pub(crate) struct Host {
    process: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Host {
    /// Starts an example on the database at that address, and waits until it listens.
    pub(crate) fn start(name: &str, database: &str) -> Self {
        Self::start_with(name, &["--database", database])
    }

    /// Starts an example with those options, and waits until it listens.
    pub(crate) fn start_with(name: &str, options: &[&str]) -> Self {
        let mut command = example(name);
        command.args(options).args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        // Made first, so that the example ends with a failure as well.
        let mut host = Self { process, out, address: String::new() };
        let address = line.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix('\n'));
        host.address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        host
    }

    pub(crate) fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        Answer::to(&self.address, &request(method, target, headers, ""))
    }

    pub(crate) fn get(&self, target: &str, token: &str) -> Answer {
        self.ask("GET", target, &format!("Authorization: Bearer {token}\n"))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends SIGTERM or SIGINT.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -s {name} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits until nobody is accepted any more.
    pub(crate) fn has_heard(&self) {
        while TcpStream::connect(&self.address).is_ok() {}
    }

    /// Waits for the end: the status, and what else came on standard output and on standard error.
    pub(crate) fn ended(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.process.wait().unwrap().code(), out, err)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It has ended already where the test was passed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
