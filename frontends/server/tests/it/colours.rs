//! Colours: on a terminal that knows them, and unless the environment says otherwise.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program::TestDir;

/// What a terminal gets to see of a command that fails.
fn on_terminal(variables: &[(&str, &str)]) -> String {
    let dir = TestDir::new();
    let mut command = dir.command("import nothing-here.jsonl");
    // `CI` is among them: where it is set, a terminal counts as one that knows colours.
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let (succeeded, shown) = shown_on_terminal(command.stdout(Stdio::null()));
    assert!(!succeeded && shown.contains("nothing-here.jsonl"), "{shown}");
    shown
}

/// Whether a command succeeds, and what it writes to standard error, which is a terminal.
pub(crate) fn shown_on_terminal(command: &mut Command) -> (bool, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
    let mut child = command.stderr(end).spawn().unwrap();
    // The last end of this process that is open for writing goes, so that the reading ends with the command.
    command.stderr(Stdio::null());
    let mut shown = Vec::new();
    // Linux ends it with an error.
    let _ = File::from(terminal).read_to_end(&mut shown);
    (child.wait().unwrap().success(), String::from_utf8(shown).unwrap())
}

#[test]
fn a_terminal_gets_colours_unless_it_or_the_environment_has_none() {
    let coloured = |variables: &[(&str, &str)]| on_terminal(variables).contains('\u{1b}');
    assert!(coloured(&[]));
    assert!(coloured(&[("NO_COLOR", "")]));
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        assert!(!coloured(&[variable]), "{variable:?}");
    }
}
