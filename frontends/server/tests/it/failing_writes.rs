//! Whichever write to the disk fails, a command that changes something says whether it was done.

#[path = "../../../../storage/sqlite/tests/it/failing_writes/shim.rs"]
pub(crate) mod shim;

use std::fs;

use rusqlite::Connection;

use crate::program::{COURSES, Outcome, TestDir};
use shim::{DATABASE, Fault, Shim, contents};

/// More than any command here writes.
const MAX_WRITES: u32 = 200;

/// A command, and what asks a database whether it was done.
struct Command {
    arguments: String,
    is_done: &'static str,
    /// What is said where that is not known.
    hint: &'static str,
}

/// A place with courses and a key, and each command on it.
fn fixture() -> (TestDir, Vec<Command>) {
    let dir = TestDir::in_memory();
    dir.write("courses.jsonl", COURSES);
    dir.write("new.jsonl", COURSES.replace("\"one\"", "\"new\""));
    dir.write("token", "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhY2NfZ29uZSIsImV4cCI6NDEwMjQ0NDgwMH0.AAAA");
    dir.run("import courses.jsonl").succeeds();
    let key = dir.run("keys create --account a --name n --scope read:courses --json").json();
    let id = key["id"].as_str().unwrap();
    let link = "settings link --account a --settings-url /settings";
    dir.run(link).succeeds();
    let created = "SELECT count(*) = 2 FROM credentials";
    let command = |arguments: &str, is_done, hint| Command { arguments: arguments.to_owned(), is_done, hint };
    let commands = vec![
        command("keys create --account a --name n --scope read:courses", created, "if it is there, revoke it"),
        command("tokens create --account a --scope read:courses", created, "if it is there, revoke it"),
        command(
            &format!("keys revoke {id}"),
            "SELECT revoked_at IS NOT NULL FROM credentials",
            "`catalogue keys list --account ID` shows it",
        ),
        command(
            &format!("keys rotate {id}"),
            "SELECT count(*) = 2 AND count(replaced_by) = 1 FROM credentials",
            "is there, rotate it too",
        ),
        command(link, "SELECT count(*) = 2 FROM sign_ins", "make another"),
        command("settings sign-out --account a", "SELECT count(*) = 0 FROM sign_ins", "do it again"),
        #[cfg(feature = "oauth")]
        command(
            "tokens revoke --account acc_gone",
            "SELECT count(*) = 1 FROM revoked_tokens",
            "to revoke it again does no harm",
        ),
        command(
            "accounts remove a --yes",
            "SELECT count(*) = 1 AND max(id) = 'b' FROM accounts",
            "`accounts show` finds out",
        ),
        command(
            "import new.jsonl --prune",
            "SELECT count(*) = 3 AND sum(slug = 'new') = 2 FROM courses",
            "import it again",
        ),
    ];
    (dir, commands)
}

/// Runs the command on a copy of the place with that fault; gives what became of it, and whether a write has failed.
fn run(shim: &Shim, from: &TestDir, command: &Command, fault: Fault) -> (Outcome, bool) {
    let dir = TestDir::in_memory();
    for file in ["catalogue.db", "new.jsonl", "token"] {
        fs::copy(from.path(file), dir.path(file)).unwrap();
    }
    let (database, mark) = (dir.path("catalogue.db"), dir.path("mark"));
    let before = contents(&database);
    let mut program = dir.command(&command.arguments);
    program.stdin(fs::File::open(dir.path("token")).unwrap());
    shim.put_before(&mut program, fault, DATABASE, &mark);
    let outcome: Outcome = program.output().unwrap().into();
    let unchanged = contents(&database) == before;
    let done: Option<bool> =
        Connection::open(&database).unwrap().query_row(command.is_done, [], |row| row.get(0)).unwrap();
    let context = format!("{} {fault:?}: {outcome:?}", command.arguments);
    if outcome.status == Some(0) {
        assert_eq!(done, Some(true), "{context}");
    } else {
        assert_eq!((outcome.status, &*outcome.out, outcome.err.lines().count()), (Some(1), "", 1), "{context}");
        let not_known = outcome.err.contains("it is not known whether") && outcome.err.contains(command.hint);
        let not_done = outcome.err.contains("nothing was changed: ");
        assert!(not_known != not_done && (unchanged || not_known && done == Some(true)), "{context}");
    }
    (outcome, mark.exists())
}

#[test]
fn each_command_says_whether_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    let (dir, commands) = fixture();
    for command in commands {
        for kind in [Fault::FULL, Fault::BROKEN] {
            let mut outcomes = Vec::new();
            loop {
                let at = outcomes.len() as u32 + 1;
                assert!(at < MAX_WRITES, "{}", command.arguments);
                let (outcome, met) = run(shim, &dir, &command, Fault { at, ..kind });
                outcomes.push(outcome);
                if !met {
                    break;
                }
            }
            for fragment in ["nothing was changed", "it is not known"] {
                assert!(outcomes.iter().any(|outcome| outcome.err.contains(fragment)), "{fragment}: {outcomes:#?}");
            }
            assert_eq!(outcomes.last().unwrap().status, Some(0), "{outcomes:?}");
        }
    }
}

/// A copy that cannot be written is not there, nor any part of it.
#[test]
fn a_backup_that_fails_says_why_and_leaves_nothing() {
    let Some(shim) = Shim::shared() else { return };
    let (dir, _) = fixture();
    // One that reads alone leaves the other files of the database there.
    dir.run("export").succeeds();
    let files = dir.files();
    for (kind, why) in [(Fault::FULL, "the disk is full"), (Fault::BROKEN, "the disk failed")] {
        let mut failures = Vec::new();
        for at in 1..MAX_WRITES {
            let (mut backup, mark) = (dir.command("backup copy.db"), dir.path("mark"));
            shim.put_before(&mut backup, Fault { at, ..kind }, ".partial", &mark);
            let outcome: Outcome = backup.output().unwrap().into();
            if fs::remove_file(mark).is_err() {
                outcome.succeeds();
                break;
            }
            assert_eq!(dir.files(), files, "{at}: {outcome:?}");
            failures.push(outcome.err.clone());
            outcome.fails(1, &["copy.db: "]);
        }
        assert!(failures[0].contains(why), "{failures:#?}");
        assert!(failures.last().unwrap().contains("copy.db: cannot be written: "), "the sync: {failures:#?}");
        fs::remove_file(dir.path("copy.db")).unwrap();
    }
}

/// What cannot be made at all is no database, and what may have been migrated is looked at again.
#[test]
fn a_migration_that_may_be_done_says_so() {
    let Some(shim) = Shim::shared() else { return };
    let messages: Vec<_> = (1..MAX_WRITES)
        .map_while(|at| {
            let dir = TestDir::in_memory();
            let (mut program, mark) = (dir.command("migrate"), dir.path("mark"));
            shim.put_before(&mut program, Fault { at, ..Fault::BROKEN }, DATABASE, &mark);
            let outcome: Outcome = program.output().unwrap().into();
            mark.exists().then_some(outcome.err)
        })
        .collect();
    assert!(messages[0].contains("cannot be opened: the disk failed"), "{messages:#?}");
    let unknown = "it is not known whether the schema was brought up to date: the disk failed during the commit";
    assert!(messages.iter().any(|message| message.contains(unknown)), "{messages:#?}");
}
