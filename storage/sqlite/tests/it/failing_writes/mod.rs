//! Outcomes of calls that write, for a failure of any of their writes to the disk.

mod child;
pub(crate) mod shim;

use std::env;
use std::fs;
use std::process::Command;
use std::thread;

use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::outcomes::{Call, State, calls, is_truthful, prepare};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use crate::database_in;
use child::{CALL, KEY, LARGE_IMPORT, MIGRATION, OUTCOME_FILE, RECORD_USES, SPILLING_IMPORT};
use shim::{DATABASE, Failure, Shim, contents};

const INDEX: &str = ".db-shm";
/// Ending of a file that was removed while it is open, such as SQLite's temporary files.
const TEMPORARY: &str = "(deleted)";
/// Limit above the number of writes of any call here.
const MAX_WRITES: u32 = 200;
/// Number of tries that run at once. Many of them wait, because the checkpoint after a commit waits for readers.
const PARALLEL: u32 = 4;

/// A failure, the outcome that the child reported, and two states. The first is of the database, the second of what would be
/// recovered from its files if the machine stopped now.
#[derive(Debug)]
#[expect(dead_code, reason = "printed if a check fails")]
struct Observation(Failure, String, [State; 2]);

/// A database before a call.
struct Before {
    directory: TempDir,
    key: String,
    /// Whether another program has it open and reads, so that changes stay in the WAL.
    held: bool,
}

/// Creates a directory, in memory if possible: the tests sync very often.
fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Before {
    async fn new() -> Self {
        let directory = directory();
        let key = prepare(&SqliteStorage::open_and_migrate(database_in(&directory)).unwrap()).await;
        Self { directory, key, held: false }
    }

    /// Repeats the call, each time with the next of its writes to files with `endings` failing, until no write is left.
    /// Compares each outcome that the call reports with the database.
    fn try_all(&self, shim: &Shim, (call, is_done): Call, kind: Failure, endings: &str) -> Vec<Observation> {
        let mut all = Vec::new();
        for first in (1..MAX_WRITES).step_by(PARALLEL as usize) {
            let tries: Vec<_> = thread::scope(|scope| {
                let try_one = |at| move || self.try_one(shim, (call, is_done), Failure { at, ..kind }, endings);
                let threads: Vec<_> = (first..first + PARALLEL).map(|at| scope.spawn(try_one(at))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for observation in tries {
                match observation {
                    Some(observation) => all.push(observation),
                    None => {
                        assert!(!all.is_empty(), "{call} does not reach the failure");
                        return all;
                    }
                }
            }
        }
        panic!("{call} writes more than {MAX_WRITES} times");
    }

    /// Tries `call` with one failing write. Returns `None` if the call is done before that write.
    fn try_one(&self, shim: &Shim, (call, is_done): Call, failure: Failure, endings: &str) -> Option<Observation> {
        let (directory_of_call, after_stop) = (directory(), directory());
        copy(&self.directory, &directory_of_call);
        let _holder = self.held.then(|| hold(&directory_of_call));
        let before = contents(&database_in(&directory_of_call));
        let mark = directory_of_call.path().join("mark");
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "failing_writes::child::makes_call"]).current_dir(&directory_of_call);
        shim.preload(child.env(CALL, call).env(KEY, &self.key), failure, endings, &mark);
        let output = child.output().unwrap();
        let reported = fs::read_to_string(directory_of_call.path().join(OUTCOME_FILE))
            .unwrap_or_else(|_| panic!("{call}: {output:?}"));

        // Copy first: opening a database recovers it.
        copy(&directory_of_call, &after_stop);
        let states = [&directory_of_call, &after_stop].map(|view| state_of(view, is_done, &before));
        let observation = Observation(failure, reported, states);
        assert!(is_truthful(&observation.1, &states), "{call}: {observation:?}");
        if mark.exists() {
            return Some(observation);
        }
        assert_eq!(observation.1, "done", "{call}: {observation:?}");
        None
    }
}

impl Observation {
    /// Returns whether the outcome is unknown and the data not visible, but would be visible after a power failure.
    fn appears_after_stop(&self) -> bool {
        self.1.starts_with("not known") && self.2 == [State::Nothing, State::Done]
    }
}

fn hold(directory_of_call: &TempDir) -> Connection {
    let connection = Connection::open(database_in(directory_of_call)).unwrap();
    connection.execute_batch("INSERT INTO accounts (id) VALUES (''); BEGIN").unwrap();
    let _: i64 = connection.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0)).unwrap();
    connection
}

/// Copies a database's files by another process: closing a file in this process would drop its locks.
fn copy(from: &TempDir, to: &TempDir) {
    for ending in DATABASE.split(' ') {
        let file = from.path().join(format!("catalogue{ending}"));
        if file.exists() {
            assert!(Command::new("cp").arg(&file).arg(to.path()).status().unwrap().success());
        }
    }
}

fn state_of(view: &TempDir, is_done: &str, before: &[Vec<Value>]) -> State {
    if contents(&database_in(view)) == before {
        return State::Nothing;
    }
    let connection = Connection::open(database_in(view)).unwrap();
    let done: Option<bool> = connection.query_row(is_done, [], |row| row.get(0)).unwrap();
    if done == Some(true) { State::Done } else { State::Torn }
}

#[tokio::test]
async fn calls_report_whether_change_was_committed() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before::new().await;
    for call in calls() {
        for kind in [Failure::FULL, Failure::BROKEN] {
            let all = before.try_all(shim, call, kind, DATABASE);
            assert!(
                all.iter().any(|Observation(_, reported, _)| reported == "done"),
                "a failure after the commit must not be reported"
            );
        }
    }
}

/// The outcome is unknown only for a commit whose sync failed.
#[tokio::test]
async fn calls_report_outcome_while_another_program_reads() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before { held: true, ..Before::new().await };
    for call in calls() {
        let all = before.try_all(shim, call, Failure::BROKEN, DATABASE);
        assert_eq!(all.iter().filter(|observation| observation.appears_after_stop()).count(), 1, "{call:?}: {all:#?}");
    }
}

/// When the index fails, the transaction is already synced.
#[tokio::test]
async fn import_reports_unknown_outcome_when_wal_index_cannot_grow() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before { held: true, ..Before::new().await };
    let all = before.try_all(shim, LARGE_IMPORT, Failure::BROKEN, INDEX);
    assert!(all.iter().any(Observation::appears_after_stop), "{all:#?}");
}

/// SQLite spills the list of dirty pages to a temporary file, which must not count as part of the commit.
#[tokio::test]
async fn import_reports_outcome_when_temporary_file_fails() {
    let Some(shim) = Shim::shared() else { return };
    let before = Before::new().await;
    let fails = |at| before.try_one(shim, SPILLING_IMPORT, Failure { at, ..Failure::FULL }, TEMPORARY).is_some();
    assert!(fails(1), "the import has no temporary file");
    // Find the last write of the temporary file: a commit that included the file would write the rest of it there.
    let (mut failed, mut passed) = (1, 2_000);
    assert!(!fails(passed));
    while passed - failed > 1 {
        let middle = u32::midpoint(failed, passed);
        if fails(middle) {
            failed = middle;
        } else {
            passed = middle;
        }
    }
}

/// The host application may leave WAL mode, so uses are recorded in any journal mode.
#[tokio::test]
async fn migration_and_uses_without_wal_report_outcome() {
    let Some(shim) = Shim::shared() else { return };
    let new = Before { directory: directory(), key: String::new(), held: false };
    let without_wal = Before::new().await;
    let host = Connection::open(database_in(&without_wal.directory)).unwrap();
    host.pragma_update(None, "journal_mode", "delete").unwrap();
    for kind in [Failure::FULL, Failure::BROKEN] {
        new.try_all(shim, MIGRATION, kind, DATABASE);
        without_wal.try_all(shim, RECORD_USES, kind, DATABASE);
    }
}
