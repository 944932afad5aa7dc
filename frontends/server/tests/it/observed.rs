//! A server with an admin listener and a log file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{DEADLINE, Server, TestDir, exchange};

pub(crate) struct Observed {
    pub(crate) server: Server,
    /// Address of the admin listener, such as `127.0.0.1:40123`.
    pub(crate) admin: String,
    log: PathBuf,
}

impl Observed {
    /// Starts `serve` with `arguments`.
    pub(crate) fn start(dir: &TestDir, arguments: &str) -> Self {
        Self::start_with(
            dir,
            &mut dir.command(&format!("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 {arguments}")),
        )
    }

    /// Starts a server by `command`.
    pub(crate) fn start_with(dir: &TestDir, command: &mut Command) -> Self {
        let log = dir.path("log");
        let server = Server::start(command.stderr(File::create(&log).unwrap()));
        let text = fs::read_to_string(&log).unwrap();
        // The address is in a separate line, or in a line of JSON.
        let (_, admin) = text.split_once("admin on http://").unwrap();
        let admin = admin.split(['"', '\n']).next().unwrap().to_owned();
        Self { server, admin, log }
    }

    /// Returns the log as written so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until the log contains `piece`.
    pub(crate) fn wait_for_log(&self, piece: &str) {
        self.wait_until(piece, || self.log().contains(piece));
    }

    /// Waits until the sample `name` of `/metrics` is at least `least`.
    pub(crate) fn wait_for_metric(&self, name: &str, least: f64) {
        self.wait_until(name, || self.metrics()[name] >= least);
    }

    /// Waits until `condition` returns `true`.
    pub(crate) fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}; the log:\n{}", self.log());
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops the server and returns the complete log.
    pub(crate) fn stop_and_read_log(self) -> String {
        let log = self.log.clone();
        assert_eq!(self.server.stop_with("TERM").0, Some(0));
        fs::read_to_string(log).unwrap()
    }

    /// Returns the status and the body of `/ready`.
    pub(crate) fn ready(&self) -> (u16, Value) {
        let (status, _, body) = send(&self.admin, "GET /ready HTTP/1.1");
        (status, serde_json::from_str(&body).unwrap())
    }

    /// Returns the samples of `/metrics`: name with labels, and value.
    pub(crate) fn metrics(&self) -> BTreeMap<String, f64> {
        samples(&send(&self.admin, "GET /metrics HTTP/1.1").2)
    }
}

/// Returns the samples of a text in the format of Prometheus.
pub(crate) fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// Sends a request line and header fields, separated by line feeds. Returns status, head and body of the response.
pub(crate) fn send(address: &str, request: &str) -> (u16, String, String) {
    let request = request.replace('\n', "\r\n");
    let response = exchange(address, &format!("{request}\r\nHost: a\r\nConnection: close\r\n\r\n")).unwrap();
    (response.status, response.head, response.body)
}
