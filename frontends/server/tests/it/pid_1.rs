//! Signals to the program as PID 1, as in a container: the kernel drops signals that PID 1 does not handle.
//!
//! Without namespaces the tests print that they are skipped and pass, unless `CATALOGUE_TEST_REQUIRE` names `unshare`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;

use crate::program::{COURSES, Outcome, TestDir, copy_context, send_signal};
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

/// The program as PID 1.
struct Init(Child);

impl Init {
    fn start(command: &Command) -> Self {
        let mut init = namespace();
        init.arg(command.get_program()).args(command.get_args());
        copy_context(command, &mut init);
        Self(init.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Writes `text` to standard input, and returns when the program has read it.
    fn write_input(&mut self, text: &str) {
        // More than the capacity of a pipe and a buffer, so the program has read the text when the write returns.
        let padding = "\n".repeat(1 << 20);
        write!(self.0.stdin.as_mut().unwrap(), "{text}{padding}").unwrap();
    }

    fn first_line_of_stderr(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    /// Sends a signal and waits for the exit, while standard input stays open.
    fn stop_with(mut self, signal: &str) -> Outcome {
        let input = self.0.stdin.take();
        send_signal(child_of(child_of(self.0.id())), signal);
        let outcome = self.0.wait_with_output().unwrap().into();
        drop(input);
        outcome
    }
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
        let init = Init::start(dir.command(command).args(["--config", "settings"]));
        // Opening the pipe waits until the program has opened the other end.
        let settings = File::options().write(true).open(dir.path("settings")).unwrap();
        let outcome = init.stop_with(signal);
        assert_eq!((outcome.status, &*outcome.out, &*outcome.err), (Some(*status), "", ""), "{command}: {signal}");
        drop(settings);
    }
    assert_eq!(dir.export(), COURSES);
}

#[test]
fn waiting_commands_exit_on_signals() {
    let Some(()) = or_skip_without_namespaces() else { return };
    let dir = TestDir::with_courses();
    let other = Connection::open(dir.path("catalogue.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let create = "keys create --account a --name n --scope read:courses";
    for (signal, status) in SIGNALS {
        for command in [create, "settings link --account a --settings-url /settings"] {
            let mut init = Init::start(&dir.command(command));
            assert!(init.first_line_of_stderr().contains("waiting for another program"), "{command}");
            assert_eq!(init.stop_with(signal).status, Some(status), "{command}: {signal}");
        }
        for command in ["keys check", "keys find --in-text -"] {
            let mut init = Init::start(&dir.command(command));
            init.write_input("");
            assert_eq!(init.stop_with(signal).status, Some(status), "{command}: {signal}");
        }
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(dir.run("keys list --account a --json").json().as_array().unwrap().len(), 0);
}

#[test]
fn commands_with_signal_handlers_run_them() {
    let Some(()) = or_skip_without_namespaces() else { return };
    let dir = TestDir::new();
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let mut import = Init::start(&dir.command("import -"));
        import.write_input(COURSES);
        import.stop_with(signal).fails(status, &["interrupted; nothing was imported"]);
    }
    for (signal, status) in [("TERM", 0), ("INT", 0), ("QUIT", 131)] {
        let mut serve = Init::start(&dir.command("serve --listen 127.0.0.1:0"));
        let mut line = String::new();
        BufReader::new(serve.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on "), "{line}");
        assert_eq!(serve.stop_with(signal).status, Some(status), "{signal}");
    }
}
