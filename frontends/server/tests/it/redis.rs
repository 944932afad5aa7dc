//! A Redis server for one test: on a free port, without a file, stopped on drop.
//!
//! Without Redis the tests print that they are skipped and pass, unless `CATALOGUE_TEST_REQUIRE` names `redis`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use crate::background::Background;
use crate::program::is_installed;
use crate::skip::or_skip_unless;

/// A running Redis, stopped on drop.
pub(crate) struct Redis {
    port: u16,
    _process: Background,
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
        let port_option = port.to_string();
        let options = ["--port", &port_option, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
        let (process, mut log) = Background::start(&[&["redis-server"][..], &options].concat());
        let is_ready = log.find_map(|line| {
            if line.contains("Ready to accept connections") {
                return Some(true);
            }
            line.contains("Failed listening").then_some(false)
        });
        is_ready.unwrap_or_default().then_some(Self { port, _process: process })
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

/// Returns a port that is not in use.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
