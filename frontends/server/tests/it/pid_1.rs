//! Signals to the program as PID 1, as in a container: the kernel drops signals that PID 1 does not handle.
//!
//! Without namespaces the tests print that they are skipped and pass, unless `CATALOGUE_TEST_REQUIRE` names `unshare`.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use crate::program::{COURSES, Outcome, RunningCommand, TestDir, copy_context};
use crate::skip::or_skip_unless;

const SIGNALS: [(&str, i32); 3] = [("TERM", 143), ("INT", 130), ("QUIT", 131)];

/// Runs a program as PID 1 of a new namespace. After a minute it is killed, with status 137.
const NAMESPACE: &str = "timeout --signal=KILL 60 unshare --user --map-root-user --pid --fork --kill-child";

fn namespace() -> Command {
    let mut words = NAMESPACE.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// Returns `None` if namespaces are not permitted and not required.
fn or_skip_without_namespaces() -> Option<()> {
    let is_first = namespace().args(["sh", "-c", "test $$ = 1"]).stderr(Stdio::null()).status();
    let is_permitted = is_first.is_ok_and(|status| status.success());
    or_skip_unless("unshare", is_permitted.then_some(()).ok_or_else(|| "not permitted".to_owned()))
}

/// Returns `command` as PID 1, with an open standard input.
fn as_pid_1(command: &Command) -> Command {
    let mut init = namespace();
    init.arg(command.get_program()).args(command.get_args()).stdin(Stdio::piped());
    copy_context(command, &mut init);
    init
}

/// Sends a signal to PID 1 of the namespace and waits for the exit, while standard input stays open.
fn stop(init: RunningCommand, signal: &str) -> Outcome {
    let process = child_of(child_of(init.id()));
    init.stop_process(process, signal)
}

fn child_of(process: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
    children.trim().parse().unwrap()
}

/// The configuration file is a pipe without data, so every command waits for it.
#[test]
fn every_command_exits_on_signals() {
    let Some(()) = or_skip_without_namespaces() else { return };
    let dir = TestDir::with_courses();
    assert!(Command::new("mkfifo").arg(dir.path("settings")).status().unwrap().success());
    let commands = [
        "serve",
        "demo",
        "import -",
        "export",
        "backup copy.db",
        "accounts list",
        "accounts remove a --yes",
        "keys create --account a --name n --scope read:courses",
        "keys check",
        "keys find -",
        "keys list --account a",
        "tokens check",
        "settings link --account a --settings-url /settings",
        "views check",
        "openapi",
        "migrate",
        "config check",
        "doctor",
        "health",
    ];
    for (command, (signal, status)) in commands.iter().zip(SIGNALS.iter().cycle()) {
        let init = RunningCommand::start(&mut as_pid_1(dir.command(command).args(["--config", "settings"])));
        // Opening the pipe waits until the program has opened the other end.
        let settings = File::options().write(true).open(dir.path("settings")).unwrap();
        let outcome = stop(init, signal);
        assert_eq!((outcome.status, &*outcome.out, &*outcome.err), (Some(*status), "", ""), "{command}: {signal}");
        drop(settings);
    }
    assert_eq!(dir.export(), COURSES);
}

#[test]
fn waiting_commands_exit_on_signals() {
    let Some(()) = or_skip_without_namespaces() else { return };
    let dir = TestDir::with_courses();
    let other = dir.host();
    other.run("BEGIN IMMEDIATE");
    let create = "keys create --account a --name n --scope read:courses";
    for (signal, status) in SIGNALS {
        for command in [create, "settings link --account a --settings-url /settings"] {
            let mut init = RunningCommand::start(&mut as_pid_1(&dir.command(command)));
            assert!(init.notes_until("")[0].contains("waiting for another program"), "{command}");
            assert_eq!(stop(init, signal).status, Some(status), "{command}: {signal}");
        }
        for command in ["keys check", "keys find --in-text -"] {
            let init = dir.start_reading(&mut as_pid_1(&dir.command(command)), "");
            assert_eq!(stop(init, signal).status, Some(status), "{command}: {signal}");
        }
    }
    other.run("COMMIT");
    assert_eq!(dir.run("keys list --account a --json").json().as_array().unwrap().len(), 0);
}

#[test]
fn commands_with_signal_handlers_run_them() {
    let Some(()) = or_skip_without_namespaces() else { return };
    let dir = TestDir::new();
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let import = dir.start_reading(&mut as_pid_1(&dir.command("import -")), COURSES);
        stop(import, signal).fails(status, &["interrupted; nothing was imported"]);
    }
    for (signal, status) in [("TERM", 0), ("INT", 0), ("QUIT", 131)] {
        let mut serve = RunningCommand::start(&mut as_pid_1(&dir.command("serve --listen 127.0.0.1:0")));
        assert!(serve.line().starts_with("listening on "));
        assert_eq!(stop(serve, signal).status, Some(status), "{signal}");
    }
}
