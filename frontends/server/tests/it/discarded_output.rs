//! Commands whose standard output is closed, full or `/dev/null`.

use std::process::Command;

use crate::program::{COURSES, Outcome, TestDir};

/// Runs the program with its standard output redirected by a shell.
fn redirected(dir: &TestDir, arguments: &str, redirection: &str) -> Outcome {
    let program = dir.command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" \"$@\" {redirection}")]).arg(program.get_program());
    shell.args(program.get_args()).current_dir(dir.path("")).output().unwrap().into()
}

#[test]
fn secret_is_not_created_when_output_is_discarded() {
    let dir = TestDir::with_courses();
    let rotate = format!("keys rotate {} --overlap 1h", dir.key("a").0);
    let lists = || ["keys list --json", "keys log --account a --json"].map(|list| dir.run(list).succeeds());
    let before = lists();
    for redirection in [">&-", "<&- >&- 2>&-", "> /dev/null", ">> /dev/null", "<> /dev/null >&0"] {
        for arguments in [
            "keys create --account a --name n --scope read:courses",
            "tokens create --account a --scope read:courses",
            &rotate,
            "settings link --account a --settings-url /settings",
        ] {
            for json in ["", " --json"] {
                let outcome = redirected(&dir, &format!("{arguments}{json}"), redirection);
                assert_eq!(outcome.status, Some(1), "{arguments}{json} {redirection}: {outcome:?}");
                if !redirection.contains('2') {
                    let what = "standard output is closed or /dev/null, so the secret would be lost; ";
                    outcome.fails(1, &["nothing was created: ", what, "direct it to a terminal, a pipe or a file"]);
                }
            }
        }
    }
    assert_eq!(lists(), before);
}

#[test]
fn export_fails_when_output_is_discarded() {
    let dir = TestDir::with_courses();
    for redirection in [">&-", "> /dev/null"] {
        let pieces = [
            "nothing was exported: standard output is closed or /dev/null; ",
            "direct it to a terminal, a pipe or a file",
        ];
        redirected(&dir, "export", redirection).fails(1, &pieces);
    }
    redirected(&dir, "export", "> /dev/full").fails(1, &["standard output cannot be written"]);
    assert_eq!(redirected(&dir, "export", "| cat").succeeds(), COURSES);
}

/// Commands that print neither a secret nor an export succeed even if their output is discarded.
#[test]
fn reports_may_be_discarded() {
    let dir = TestDir::with_courses();
    let revoke = format!("keys revoke {}", dir.key("a").0);
    for arguments in ["import courses.jsonl", "backup copy.db", "keys list", "doctor", &revoke, "migrate"] {
        redirected(&dir, arguments, "> /dev/null").succeeds();
    }
}

/// A link that was not printed is still valid, so the error names the command that ends it.
#[test]
fn link_creation_is_reported_when_output_fails() {
    let dir = TestDir::with_courses();
    for json in ["", " --json"] {
        let arguments = format!("settings link --account a --settings-url /settings{json}");
        redirected(&dir, &arguments, "> /dev/full").fails(
            1,
            &[
                "a link was created, but was not printed: standard output cannot be written: ",
                "; run `catalogue settings sign-out --account a` and create another",
            ],
        );
    }
    assert_eq!(dir.run("settings sign-out --account a").succeeds(), "ended 2 links and sessions of a\n");
}
