//! Failing disk writes: commands that change the database report whether the change took effect.
//! A failed backup leaves no file.

#[path = "../../../../storage/sqlite/tests/it/failing_writes/shim.rs"]
pub(crate) mod shim;

use std::fs;
use std::process::Command;

use rusqlite::Connection;

use crate::program::{COURSES, Outcome, TestDir};
use shim::{DATABASE, Failure, Shim, contents};

/// Runs a command with `failure` of writes to the files with `endings`. Returns the outcome, and whether the failure occurred.
pub(crate) fn run_failing(
    shim: &Shim,
    dir: &TestDir,
    command: &mut Command,
    failure: Failure,
    endings: &str,
) -> (Outcome, bool) {
    let mark = dir.path("mark");
    shim.preload(command, failure, endings, &mark);
    (command.output().unwrap().into(), fs::remove_file(mark).is_ok())
}

/// Maximum number of writes of a command; more would mean an endless loop.
const MAX_WRITES: usize = 200;

/// Runs a command on a copy of the database in `from` with `failure`. `is_done` returns whether the command took effect, and
/// `hint` is expected if the result is unknown. Returns the outcome, and whether a write failed.
fn run(
    shim: &Shim,
    from: &TestDir,
    (arguments, is_done, hint): (&str, &str, &str),
    failure: Failure,
) -> (Outcome, bool) {
    let dir = TestDir::in_memory();
    for file in ["catalogue.db", "new.jsonl", "token"] {
        fs::copy(from.path(file), dir.path(file)).unwrap();
    }
    let database = dir.path("catalogue.db");
    let before = contents(&database);
    let mut program = dir.command(arguments);
    program.stdin(fs::File::open(dir.path("token")).unwrap());
    let (outcome, has_failed) = run_failing(shim, &dir, &mut program, failure, DATABASE);
    let unchanged = contents(&database) == before;
    let done: Option<bool> = Connection::open(&database).unwrap().query_row(is_done, [], |row| row.get(0)).unwrap();
    let context = format!("{arguments} {failure:?}: {outcome:?}");
    if outcome.status == Some(0) {
        assert_eq!(done, Some(true), "{context}");
    } else {
        assert_eq!((outcome.status, &*outcome.out, outcome.err.lines().count()), (Some(1), "", 1), "{context}");
        let is_unknown = outcome.err.contains("it is not known whether") && outcome.err.contains(hint);
        let is_undone = outcome.err.contains("nothing was changed: ");
        assert!(is_unknown != is_undone && (unchanged || is_unknown && done == Some(true)), "{context}");
    }
    (outcome, has_failed)
}

#[test]
fn each_command_reports_whether_it_took_effect() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.import(COURSES);
    dir.write("new.jsonl", COURSES.replace("\"one\"", "\"new\""));
    dir.write("token", "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhY2NfZ29uZSIsImV4cCI6NDEwMjQ0NDgwMH0.AAAA");
    let (id, _) = dir.key("a");
    let link = "settings link --account a --settings-url /settings";
    dir.run(link).succeeds();
    let created = "SELECT count(*) = 2 FROM credentials";
    let is_revoked = "SELECT revoked_at IS NOT NULL FROM credentials";
    let is_rotated = "SELECT count(*) = 2 AND count(replaced_by) = 1 FROM credentials";
    let is_removed = "SELECT count(*) = 1 AND max(id) = 'b' FROM accounts";
    let is_imported = "SELECT count(*) = 3 AND sum(slug = 'new') = 2 FROM courses";
    for command in [
        ("keys create --account a --name n --scope read:courses", created, "if it exists, revoke it"),
        ("tokens create --account a --scope read:courses", created, "if it exists, revoke it"),
        (&format!("keys revoke {id}"), is_revoked, "run `catalogue keys list --account ID` to check"),
        (&format!("keys rotate {id}"), is_rotated, " exists, rotate it, as its token was never printed"),
        (link, "SELECT count(*) = 2 FROM sign_ins", "create another"),
        ("settings sign-out --account a", "SELECT count(*) = 0 FROM sign_ins", "repeat the command"),
        #[cfg(feature = "oauth")]
        (
            "tokens revoke --account acc_gone",
            "SELECT count(*) = 1 FROM revoked_tokens",
            "revoking it again is harmless",
        ),
        ("accounts remove a --yes", is_removed, "run `accounts show` to check"),
        ("import new.jsonl --prune", is_imported, "repeat the import"),
    ] {
        for kind in [Failure::FULL, Failure::BROKEN] {
            let outcomes = outcomes(|at| run(shim, &dir, command, Failure { at, ..kind }));
            for fragment in ["nothing was changed", "it is not known"] {
                assert!(outcomes.iter().any(|outcome| outcome.err.contains(fragment)), "{fragment}: {outcomes:#?}");
            }
            assert_eq!(outcomes.last().unwrap().status, Some(0), "{outcomes:?}");
        }
    }
}

/// Makes write number 1, 2 and so on fail until no write fails. Returns all outcomes.
fn outcomes(mut run: impl FnMut(u32) -> (Outcome, bool)) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    loop {
        let (outcome, has_failed) = run(outcomes.len() as u32 + 1);
        outcomes.push(outcome);
        assert!(outcomes.len() < MAX_WRITES, "{outcomes:#?}");
        if !has_failed {
            return outcomes;
        }
    }
}

#[test]
fn failed_backup_reports_reason_and_leaves_no_file() {
    let Some(shim) = Shim::shared() else { return };
    let dir = TestDir::in_memory();
    dir.import(COURSES);
    // Creates the WAL and WAL index, which commands that only read, such as `backup`, leave behind.
    dir.export();
    let files = dir.files();
    for (kind, why) in [(Failure::FULL, "the disk is full"), (Failure::BROKEN, "the disk failed")] {
        let mut failures = outcomes(|at| {
            let mut backup = dir.command("backup copy.db");
            let (outcome, has_failed) = run_failing(shim, &dir, &mut backup, Failure { at, ..kind }, ".partial");
            assert_eq!(dir.files() == files, has_failed, "{at}: {outcome:?}");
            (outcome, has_failed)
        });
        failures.pop().unwrap().succeeds();
        assert!(failures[0].err.contains(why), "{failures:#?}");
        let last = &failures.last().unwrap().err;
        assert!(last.contains("copy.db: cannot be written: "), "the sync is last: {failures:#?}");
        failures.into_iter().for_each(|outcome| outcome.fails(1, &["copy.db: "]));
        fs::remove_file(dir.path("copy.db")).unwrap();
    }
}

/// If the file cannot be created, opening fails; if the commit fails, the result of the migration is unknown.
#[test]
fn migration_with_unknown_result_is_reported() {
    let Some(shim) = Shim::shared() else { return };
    let outcomes = outcomes(|at| {
        let dir = TestDir::in_memory();
        run_failing(shim, &dir, &mut dir.command("migrate"), Failure { at, ..Failure::BROKEN }, DATABASE)
    });
    let first = &outcomes[0].err;
    assert!(first.contains("cannot open the database ") && first.contains(": the disk failed"), "{outcomes:#?}");
    let unknown = "it is not known whether the schema was migrated: the disk failed during the commit";
    assert!(outcomes.iter().any(|outcome| outcome.err.contains(unknown)), "{outcomes:#?}");
}
