//! Every call that writes says whether it was done, whichever of its writes to the disk fails.

mod calls;
pub(crate) mod shim;

use std::env;
use std::fs;
use std::process::Command;

use catalogue_core::Timestamp;
use catalogue_core::storage::KeyStorage;
use catalogue_sqlite::SqliteStorage;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use crate::{database_in, import_one_course, key_of};
use calls::{CALL, CALLS, Call, GREAT_IMPORT, IMPORT_OF_MANY, KEY, MIGRATION, NOTE_USES, SAID};
use shim::{DATABASE, Fault, Shim, contents};

const INDEX: &str = ".db-shm";
/// A file that was removed while it is open, as SQLite's temporary ones are.
const TEMPORARY: &str = "(deleted)";
/// More than any call here writes.
const MAX_WRITES: u32 = 200;

/// What a child said of its call, and what two views show: the database as it is, and what would be left of it if the machine
/// stopped now.
#[derive(Debug)]
#[expect(dead_code, reason = "shown where a check fails")]
struct Observation(Fault, String, [DatabaseState; 2]);

/// What a database shows of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatabaseState {
    Done,
    Nothing,
    Torn,
}

/// A database before a call.
struct Before {
    directory: TempDir,
    key: String,
    /// Whether another program has it open and reads: then there are changes in the WAL, and they stay there.
    held: bool,
}

/// In memory, where there is such a folder: what is written here is synced again and again.
fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Before {
    /// One with an account, a course and a key.
    async fn new() -> Self {
        let directory = directory();
        let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
        let account = import_one_course(&storage).await;
        key_of(&storage, &account).await;
        calls::sign_in(&storage, &account).await;
        calls::revoke_an_old_token(&storage).await;
        let keys = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
        Self { directory, key: keys[0].identity.credential_id.to_string(), held: false }
    }

    /// Lets one write after the other to files with these endings fail, until the call has no further one; and holds what the
    /// call says to what is there.
    fn try_all(&self, shim: &Shim, (call, is_done): Call, kind: Fault, endings: &str) -> Vec<Observation> {
        let mut all = Vec::new();
        for at in 1..MAX_WRITES {
            match self.try_one(shim, (call, is_done), Fault { at, ..kind }, endings) {
                Some(observation) => all.push(observation),
                None => {
                    assert!(at > 1, "{call} does not meet the failure");
                    return all;
                }
            }
        }
        panic!("{call} writes more than {MAX_WRITES} times");
    }

    /// Tries `call` with one failing write. Returns `None` if the call is done before that write.
    fn try_one(&self, shim: &Shim, (call, is_done): Call, fault: Fault, endings: &str) -> Option<Observation> {
        let (directory_of_call, after_stop) = (directory(), directory());
        copy(&self.directory, &directory_of_call);
        let _holder = self.held.then(|| hold(&directory_of_call));
        let before = contents(&database_in(&directory_of_call));
        let mark = directory_of_call.path().join("mark");
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "failing_writes::calls::child"]).current_dir(&directory_of_call);
        shim.put_before(child.env(CALL, call).env(KEY, &self.key), fault, endings, &mark);
        let output = child.output().unwrap();
        let reported =
            fs::read_to_string(directory_of_call.path().join(SAID)).unwrap_or_else(|_| panic!("{call}: {output:?}"));

        // First, as opening a database mends it.
        copy(&directory_of_call, &after_stop);
        let states = [&directory_of_call, &after_stop].map(|view| state_of(view, is_done, &before));
        let observation = Observation(fault, reported, states);
        assert!(is_true(&observation.1, states), "{call}: {observation:?}");
        if mark.exists() {
            return Some(observation);
        }
        assert_eq!(observation.1, "done", "{call}: {observation:?}");
        None
    }
}

impl Observation {
    /// Not known, and not there; but it would be after a stop of the machine.
    fn appears_after_stop(&self) -> bool {
        self.1.starts_with("not known") && self.2 == [DatabaseState::Nothing, DatabaseState::Done]
    }
}

fn is_true(reported: &str, states: [DatabaseState; 2]) -> bool {
    match reported {
        "done" => states == [DatabaseState::Done; 2],
        reported if reported.starts_with("not done") => states == [DatabaseState::Nothing; 2],
        _ => !states.contains(&DatabaseState::Torn),
    }
}

fn hold(directory_of_call: &TempDir) -> Connection {
    let connection = Connection::open(database_in(directory_of_call)).unwrap();
    connection.execute_batch("INSERT INTO accounts (id) VALUES (''); BEGIN").unwrap();
    let _: i64 = connection.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0)).unwrap();
    connection
}

/// Copies a database and what belongs to it, by another process: closing a file drops the locks of this one.
fn copy(from: &TempDir, to: &TempDir) {
    for ending in DATABASE.split(' ') {
        let file = from.path().join(format!("catalogue{ending}"));
        if file.exists() {
            assert!(Command::new("cp").arg(&file).arg(to.path()).status().unwrap().success());
        }
    }
}

fn state_of(view: &TempDir, is_done: &str, before: &[Vec<Value>]) -> DatabaseState {
    if contents(&database_in(view)) == before {
        return DatabaseState::Nothing;
    }
    let connection = Connection::open(database_in(view)).unwrap();
    let done: Option<bool> = connection.query_row(is_done, [], |row| row.get(0)).unwrap();
    if done == Some(true) { DatabaseState::Done } else { DatabaseState::Torn }
}

#[tokio::test]
async fn each_call_says_whether_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before::new().await;
    for call in CALLS {
        for kind in [Fault::FULL, Fault::BROKEN] {
            let all = before.try_all(shim, call, kind, DATABASE);
            assert!(
                all.iter().any(|Observation(_, reported, _)| reported == "done"),
                "what fails after the commit is no failure"
            );
        }
    }
}

/// The commit whose sync failed is the one that nobody can know of.
#[tokio::test]
async fn each_call_says_whether_it_was_done_while_another_program_reads() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before { held: true, ..Before::new().await };
    for call in CALLS {
        let all = before.try_all(shim, call, Fault::BROKEN, DATABASE);
        assert_eq!(all.iter().filter(|observation| observation.appears_after_stop()).count(), 1, "{call:?}: {all:#?}");
    }
}

/// The transaction is synced by then.
#[tokio::test]
async fn an_import_whose_index_cannot_grow_says_that_it_may_be_done() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before { held: true, ..Before::new().await };
    let all = before.try_all(shim, GREAT_IMPORT, Fault::BROKEN, INDEX);
    assert!(all.iter().any(Observation::appears_after_stop), "{all:#?}");
}

/// What an import has put stands in a temporary file where it is much, and that must not count as a part of the commit.
#[tokio::test]
async fn an_import_whose_temporary_file_fails_says_whether_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before::new().await;
    let fails = |at| before.try_one(shim, IMPORT_OF_MANY, Fault { at, ..Fault::FULL }, TEMPORARY).is_some();
    assert!(fails(1), "the import has no temporary file");
    // Where the writes of such a file end, a commit that took it along would write the rest of it.
    let (mut met, mut not_met) = (1, 2_000);
    assert!(!fails(not_met));
    while not_met - met > 1 {
        let middle = u32::midpoint(met, not_met);
        if fails(middle) {
            met = middle;
        } else {
            not_met = middle;
        }
    }
}

#[tokio::test]
async fn a_migration_says_whether_it_was_done() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before { directory: directory(), key: String::new(), held: false };
    for kind in [Fault::FULL, Fault::BROKEN] {
        before.try_all(shim, MIGRATION, kind, DATABASE);
    }
}

/// Whoever has left the WAL has a reason, so uses are noted as the database is.
#[tokio::test]
async fn uses_say_whether_they_were_noted_without_a_wal_too() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before::new().await;
    let host = Connection::open(database_in(&before.directory)).unwrap();
    host.pragma_update(None, "journal_mode", "delete").unwrap();
    for kind in [Fault::FULL, Fault::BROKEN] {
        before.try_all(shim, NOTE_USES, kind, DATABASE);
    }
}
