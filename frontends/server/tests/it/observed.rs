//! A server with a listener for its operators, whose log goes into a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::program::{DEADLINE, Server, TestDir};

pub(crate) struct Observed {
    pub(crate) server: Server,
    /// Where operators ask, such as `127.0.0.1:40123`.
    pub(crate) admin: String,
    log: PathBuf,
}

impl Observed {
    /// Starts `serve` with these arguments.
    pub(crate) fn start(dir: &TestDir, arguments: &str) -> Self {
        Self::by(dir, &mut dir.command(&format!("serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 {arguments}")))
    }

    /// Starts a command that serves.
    pub(crate) fn by(dir: &TestDir, command: &mut Command) -> Self {
        let log = dir.path("log");
        let server = Server::start(command.stderr(File::create(&log).unwrap()));
        let text = fs::read_to_string(&log).unwrap();
        // In a line of its own, or in one of JSON.
        let (_, admin) = text.split_once("admin on http://").unwrap();
        let admin = admin.split(['"', '\n']).next().unwrap().to_owned();
        Self { server, admin, log }
    }

    /// The log as far as it is written.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until the log holds `piece`.
    pub(crate) fn logs(&self, piece: &str) {
        self.until(piece, || self.log().contains(piece));
    }

    /// Waits until a sample of `/metrics` is at least that.
    pub(crate) fn counts(&self, name: &str, least: f64) {
        self.until(name, || self.metrics()[name] >= least);
    }

    /// Waits until something is so.
    pub(crate) fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < DEADLINE, "{what}: not for {DEADLINE:?}; the log:\n{}", self.log());
            thread::yield_now();
        }
    }

    /// The whole log, once the server has ended.
    pub(crate) fn ended_log(self) -> String {
        let log = self.log.clone();
        assert_eq!(self.server.end_by("TERM").0, Some(0));
        fs::read_to_string(log).unwrap()
    }

    /// The status of `/ready`, and what it says.
    pub(crate) fn ready(&self) -> (u16, Value) {
        let (status, _, body) = ask(&self.admin, "GET /ready HTTP/1.1");
        (status, serde_json::from_str(&body).unwrap())
    }

    /// Every sample of `/metrics`: its name with its labels, and its value.
    pub(crate) fn metrics(&self) -> BTreeMap<String, f64> {
        samples(&ask(&self.admin, "GET /metrics HTTP/1.1").2)
    }
}

/// The samples of a text of Prometheus'.
pub(crate) fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// Sends a request's line with these fields, each on a line of its own, and gives status, head and body.
pub(crate) fn ask(address: &str, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let request = request.replace('\n', "\r\n");
    write!(stream, "{request}\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
}
