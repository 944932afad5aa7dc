//! [`Background`]: another program, which runs until its test ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Runs a program until standard input closes. The test process holds the other end, which also closes if the process is killed.
/// Debian installs some servers in a folder that is only on the PATH of administrators.
const SCRIPT: &str = r#"
    PATH=$PATH:/usr/sbin "$@" 2>&1 </dev/null &
    cat >/dev/null
    kill -KILL $!
"#;

/// A running program, killed on drop.
pub(crate) struct Background(Child);

impl Background {
    /// Starts `command`. Returns it, and the lines that it writes.
    pub(crate) fn start(command: &[&str]) -> (Self, impl Iterator<Item = String> + use<>) {
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", SCRIPT, "sh"]).args(command).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut watchdog = watchdog.spawn().unwrap();
        let lines = BufReader::new(watchdog.stdout.take().unwrap()).lines().map_while(Result::ok);
        (Self(watchdog), lines)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
