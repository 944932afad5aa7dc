//! Colored output on terminals, and the environment variables that disable it.

use std::process::Stdio;

use crate::program::TestDir;
use crate::terminal::Terminal;

/// Returns the output of a failing command on a terminal.
fn stderr_on_terminal(variables: &[(&str, &str)]) -> String {
    let dir = TestDir::new();
    let mut command = dir.command("import nothing-here.jsonl");
    // `CI` too: if it is set, any terminal is assumed to support colors.
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let (status, displayed) = Terminal::run_on_stderr(command.stdout(Stdio::null()));
    assert!(status == Some(1) && displayed.contains("nothing-here.jsonl"), "{displayed}");
    displayed
}

#[test]
fn terminal_output_is_colored_unless_disabled() {
    let colored = |variables: &[(&str, &str)]| stderr_on_terminal(variables).contains('\u{1b}');
    assert!(colored(&[]));
    assert!(colored(&[("NO_COLOR", "")]));
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        assert!(!colored(&[variable]), "{variable:?}");
    }
}
