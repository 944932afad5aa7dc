//! A terminal of a test's own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The side that a person sits at.
pub(crate) struct Terminal(OwnedFd);

impl Terminal {
    pub(crate) fn of_width(columns: u16) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        Self(terminal)
    }

    /// A program's side, for one of its streams.
    pub(crate) fn end(&self) -> File {
        let name = ptsname(&self.0, Vec::new()).unwrap();
        File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap()
    }

    pub(crate) fn types(&self, text: &str) {
        File::from(self.0.try_clone().unwrap()).write_all(text.as_bytes()).unwrap();
    }

    /// Runs the command, some of whose streams are ends of this terminal, and gives its status and what is shown.
    pub(crate) fn run(self, command: &mut Command) -> (Option<i32>, String) {
        let mut child = command.spawn().unwrap();
        // The last ends of this process that are open for writing go, so that the reading ends with the command.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut displayed = Vec::new();
        // Linux ends it with an error.
        let _ = File::from(self.0).read_to_end(&mut displayed);
        (child.wait().unwrap().code(), String::from_utf8(displayed).unwrap().replace("\r\n", "\n"))
    }

    /// Runs a command of which only standard error is a terminal.
    pub(crate) fn run_on_stderr(command: &mut Command) -> (Option<i32>, String) {
        let terminal = Self::of_width(80);
        command.stderr(terminal.end());
        terminal.run(command)
    }
}
