//! Colours: on a terminal that knows them, and unless the environment says otherwise.

use std::process::Stdio;

use crate::program::TestDir;
use crate::terminal::Terminal;

/// What a terminal gets to see of a command that fails.
fn on_terminal(variables: &[(&str, &str)]) -> String {
    let dir = TestDir::new();
    let mut command = dir.command("import nothing-here.jsonl");
    // `CI` is among them: where it is set, a terminal counts as one that knows colours.
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let (status, displayed) = Terminal::run_on_stderr(command.stdout(Stdio::null()));
    assert!(status == Some(1) && displayed.contains("nothing-here.jsonl"), "{displayed}");
    displayed
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
