//! A pseudoterminal for tests.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The user's side of a pseudoterminal.
pub(crate) struct Terminal(OwnedFd);

impl Terminal {
    pub(crate) fn with_width(columns: u16) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        Self(terminal)
    }

    /// Returns the program's side, for one of its streams.
    pub(crate) fn end(&self) -> File {
        let name = ptsname(&self.0, Vec::new()).unwrap();
        File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap()
    }

    pub(crate) fn types(&self, text: &str) {
        File::from(self.0.try_clone().unwrap()).write_all(text.as_bytes()).unwrap();
    }

    /// Runs the command, some of whose streams are ends of this terminal. Returns its status and its output.
    pub(crate) fn run(self, command: &mut Command) -> (Option<i32>, String) {
        let mut child = command.spawn().unwrap();
        // Closes the last writable ends in this process, so that the read ends when the command exits.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut displayed = Vec::new();
        // On Linux the read ends with an error.
        let _ = File::from(self.0).read_to_end(&mut displayed);
        (child.wait().unwrap().code(), String::from_utf8(displayed).unwrap().replace("\r\n", "\n"))
    }

    /// Runs a command of which only standard error is a terminal.
    pub(crate) fn run_on_stderr(command: &mut Command) -> (Option<i32>, String) {
        let terminal = Self::with_width(80);
        command.stderr(terminal.end());
        terminal.run(command)
    }
}
