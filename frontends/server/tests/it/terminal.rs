//! A terminal of a test's own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;

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
    pub(crate) fn run(self, mut command: Command) -> (Option<i32>, String) {
        let status = command.status().unwrap();
        // The last end that was open for writing goes, so that the reading ends.
        drop(command);
        let mut shown = Vec::new();
        // Linux ends it with an error.
        let _ = File::from(self.0).read_to_end(&mut shown);
        (status.code(), String::from_utf8(shown).unwrap().replace("\r\n", "\n"))
    }
}
