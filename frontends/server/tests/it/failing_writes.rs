//! Failing disk writes: commands that change the database report whether the change took effect.
//! A failed backup leaves no file.

#[path = "../../../../storage/sqlite/tests/it/failing_writes/shim.rs"]
pub(crate) mod shim;

use std::fs;

use rusqlite::Connection;

use crate::program::{COURSES, Outcome, TestDir};
use shim::{DATABASE, Failure, Shim, contents};

/// Maximum number of writes of a command; more would mean an endless loop.
const MAX_WRITES: u32 = 200;

/// A command, and a query that returns whether it took effect.
struct Command {
    arguments: String,
    is_done: &'static str,
    /// Expected hint if the result is unknown.
    hint: &'static str,
}

/// Returns a directory with courses and a key, and the commands to run on it.
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
        command("keys create --account a --name n --scope read:courses", created, "if it exists, revoke it"),
        command("tokens create --account a --scope read:courses", created, "if it exists, revoke it"),
        command(
            &format!("keys revoke {id}"),
            "SELECT revoked_at IS NOT NULL FROM credentials",
            "run `catalogue keys list --account ID` to check",
        ),
        command(
            &format!("keys rotate {id}"),
            "SELECT count(*) = 2 AND count(replaced_by) = 1 FROM credentials",
            " exists, rotate it, as its token was never printed",
        ),
        command(link, "SELECT count(*) = 2 FROM sign_ins", "create another"),
        command("settings sign-out --account a", "SELECT count(*) = 0 FROM sign_ins", "repeat the command"),
        #[cfg(feature = "oauth")]
        command(
            "tokens revoke --account acc_gone",
            "SELECT count(*) = 1 FROM revoked_tokens",
            "revoking it again is harmless",
        ),
        command(
            "accounts remove a --yes",
            "SELECT count(*) = 1 AND max(id) = 'b' FROM accounts",
            "run `accounts show` to check",
        ),
        command(
            "import new.jsonl --prune",
            "SELECT count(*) = 3 AND sum(slug = 'new') = 2 FROM courses",
            "repeat the import",
        ),
    ];
    (dir, commands)
}

/// Runs the command on a copy of `from` with `failure`. Returns its outcome, and whether a write failed.
fn run(shim: &Shim, from: &TestDir, command: &Command, failure: Failure) -> (Outcome, bool) {
    let dir = TestDir::in_memory();
    for file in ["catalogue.db", "new.jsonl", "token"] {
        fs::copy(from.path(file), dir.path(file)).unwrap();
    }
    let (database, mark) = (dir.path("catalogue.db"), dir.path("mark"));
    let before = contents(&database);
    let mut program = dir.command(&command.arguments);
    program.stdin(fs::File::open(dir.path("token")).unwrap());
    shim.preload(&mut program, failure, DATABASE, &mark);
    let outcome: Outcome = program.output().unwrap().into();
    let unchanged = contents(&database) == before;
    let done: Option<bool> =
        Connection::open(&database).unwrap().query_row(command.is_done, [], |row| row.get(0)).unwrap();
    let context = format!("{} {failure:?}: {outcome:?}", command.arguments);
    if outcome.status == Some(0) {
        assert_eq!(done, Some(true), "{context}");
    } else {
        assert_eq!((outcome.status, &*outcome.out, outcome.err.lines().count()), (Some(1), "", 1), "{context}");
        let is_unknown = outcome.err.contains("it is not known whether") && outcome.err.contains(command.hint);
        let is_undone = outcome.err.contains("nothing was changed: ");
        assert!(is_unknown != is_undone && (unchanged || is_unknown && done == Some(true)), "{context}");
    }
    (outcome, mark.exists())
}

#[test]
fn each_command_reports_whether_it_took_effect() {
    let Some(shim) = Shim::shared() else { return };
    let (dir, commands) = fixture();
    for command in commands {
        for kind in [Failure::FULL, Failure::BROKEN] {
            let mut outcomes = Vec::new();
            loop {
                let at = outcomes.len() as u32 + 1;
                assert!(at < MAX_WRITES, "{}", command.arguments);
                let (outcome, has_failed) = run(shim, &dir, &command, Failure { at, ..kind });
                outcomes.push(outcome);
                if !has_failed {
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

#[test]
fn failed_backup_reports_reason_and_leaves_no_file() {
    let Some(shim) = Shim::shared() else { return };
    let (dir, _) = fixture();
    // Creates the WAL and WAL index, which commands that only read, such as `backup`, leave behind.
    dir.run("export").succeeds();
    let files = dir.files();
    for (kind, why) in [(Failure::FULL, "the disk is full"), (Failure::BROKEN, "the disk failed")] {
        let mut failures = Vec::new();
        for at in 1..MAX_WRITES {
            let (mut backup, mark) = (dir.command("backup copy.db"), dir.path("mark"));
            shim.preload(&mut backup, Failure { at, ..kind }, ".partial", &mark);
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
        assert!(failures.last().unwrap().contains("copy.db: cannot be written: "), "the sync is last: {failures:#?}");
        fs::remove_file(dir.path("copy.db")).unwrap();
    }
}

/// If the file cannot be created, opening fails; if the commit fails, the result of the migration is unknown.
#[test]
fn migration_with_unknown_result_is_reported() {
    let Some(shim) = Shim::shared() else { return };
    let messages: Vec<_> = (1..MAX_WRITES)
        .map_while(|at| {
            let dir = TestDir::in_memory();
            let (mut program, mark) = (dir.command("migrate"), dir.path("mark"));
            shim.preload(&mut program, Failure { at, ..Failure::BROKEN }, DATABASE, &mark);
            let outcome: Outcome = program.output().unwrap().into();
            mark.exists().then_some(outcome.err)
        })
        .collect();
    assert!(
        messages[0].contains("cannot open the database ") && messages[0].contains(": the disk failed"),
        "{messages:#?}"
    );
    let unknown = "it is not known whether the schema was migrated: the disk failed during the commit";
    assert!(messages.iter().any(|message| message.contains(unknown)), "{messages:#?}");
}
