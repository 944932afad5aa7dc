//! Commands for keys, tokens, links and accounts that wait while another program writes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;

use crate::program::TestDir;

/// Returns the arguments of each command, for two keys.
pub(crate) fn commands([one, two]: [&str; 2]) -> [String; 7] {
    [
        format!("keys revoke {one}"),
        format!("keys rotate {two}"),
        "keys create --account a --name n --scope read:courses".to_owned(),
        "tokens create --account a --scope read:courses".to_owned(),
        "settings link --account a --settings-url /settings".to_owned(),
        "settings sign-out --account a".to_owned(),
        "accounts remove b --yes".to_owned(),
    ]
}

/// Commands that wait for another program, and have logged that they wait.
pub(crate) struct WaitingCommands(Vec<Child>);

impl WaitingCommands {
    pub(crate) fn start(commands: impl IntoIterator<Item = Command>) -> Self {
        let start = |mut command: Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut children: Vec<_> = commands.into_iter().map(start).collect();
        for child in &mut children {
            let mut message = String::new();
            BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut message).unwrap();
            let expected = "waiting for another program that is writing to the database timeout=60s";
            assert!(message.contains(expected), "{message}");
        }
        Self(children)
    }

    /// Asserts that each command succeeds after the other program finished.
    pub(crate) fn succeed(self) {
        for child in self.0 {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
        }
    }
}

#[test]
fn credential_commands_wait_for_other_writers() {
    let dir = TestDir::with_courses();
    let key = || dir.run("keys create --account a --name n --scope read:courses --json").json();
    let keys = [key(), key()];
    let ids = keys.each_ref().map(|key| key["id"].as_str().unwrap());
    let other = Connection::open(dir.path("catalogue.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = WaitingCommands::start(commands(ids).map(|command| dir.command(&command)));
    other.execute_batch("COMMIT").unwrap();
    waiting.succeed();
    let listed = dir.run("keys list --account a --json").json();
    assert_eq!(listed.as_array().unwrap().len(), 5);
    assert!(listed[0]["revokedAt"].is_string(), "{listed}");
}
