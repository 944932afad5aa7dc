//! Each example is started as a user would start it, called, and stopped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running example; killed when a test fails.
struct Host {
    process: Child,
    address: String,
    _directory: tempfile::TempDir,
}

impl Host {
    fn start(example: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}", directory.path().join("catalogue.db").display());
        let mut process = Command::new(binary(example))
            .args(["--database", &database, "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect("a line that says where").to_owned();
        Self { process, address, _directory: directory }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn stop(mut self) -> std::process::ExitStatus {
        let kill = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(kill.success());
        self.process.wait().unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It has ended already where the test was passed.
        let _ = self.process.kill();
    }
}

/// Examples are built beside the tests of their package.
fn binary(example: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(example)
}

fn keeps_its_own_routes_and_mounts_the_catalogue(example: &str) {
    let host = Host::start(example);
    assert!(host.get("/about").ends_with("\r\n\r\na host of its own"));
    assert!(host.get("/api/v1/me").starts_with("HTTP/1.1 401 "));
    assert!(host.get("/docs/openapi.json").starts_with("HTTP/1.1 200 "));
    let elsewhere = host.get("/elsewhere?q=1");
    assert!(elsewhere.starts_with("HTTP/1.1 404 ") && elsewhere.contains(r#""code":"not_found""#), "{elsewhere}");
    assert!(host.stop().success());
}

#[test]
fn warp() {
    keeps_its_own_routes_and_mounts_the_catalogue("warp");
}
