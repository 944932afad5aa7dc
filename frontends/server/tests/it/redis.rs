//! A Redis server for one test: on a free port, without a file, stopped on drop.
//!
//! Without Redis the tests print that they are skipped and pass, unless `CATALOGUE_TEST_REQUIRE` names `redis`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::program::is_installed;
use crate::skip::or_skip_unless;

/// Runs Redis until standard input closes. The test process holds the other end, which also closes if the process is killed.
const SCRIPT: &str = r#"
    redis-server --port "$1" --bind 127.0.0.1 --save '' --appendonly no </dev/null &
    cat >/dev/null
    kill -KILL $!
"#;

/// A running Redis, stopped on drop.
pub(crate) struct Redis {
    port: u16,
    watchdog: Child,
}

impl Redis {
    /// Starts Redis on a free port. Returns `None` if Redis is not installed and not required.
    pub(crate) fn start() -> Option<Self> {
        or_skip_unless("redis", is_installed("redis-server"))?;
        // Tries another port if another process takes the free port first.
        (0..10).find_map(|_| Self::start_at(free_port())).or_else(|| panic!("Redis does not start"))
    }

    /// Starts Redis on `port`. Returns `None` if it does not start.
    pub(crate) fn start_at(port: u16) -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh", &port.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut watchdog = command.spawn().unwrap();
        let log = BufReader::new(watchdog.stdout.take().unwrap());
        let is_ready = log.lines().map_while(Result::ok).find_map(|line| {
            if line.contains("Ready to accept connections") {
                return Some(true);
            }
            line.contains("Failed listening").then_some(false)
        });
        let redis = Self { port, watchdog };
        is_ready.unwrap_or_default().then_some(redis)
    }

    /// Requires the password of all later connections.
    pub(crate) fn require_password(&self, password: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "CONFIG SET requirepass {password}\r\n").unwrap();
        let mut response = String::new();
        BufReader::new(stream).read_line(&mut response).unwrap();
        assert_eq!(response, "+OK\r\n");
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
    }
}

/// Returns a port that is not in use.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
