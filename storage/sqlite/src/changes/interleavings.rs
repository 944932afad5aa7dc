//! Threads that ask for accounts beside commits of others and beside backups that are put back, by many schedules: no answer is
//! older than what was committed before it was asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_core::AccountId;
use catalogue_core::storage::{CourseStorage as _, Revision};
use catalogue_interleavings::{block_on, explore, point, thread};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::storage::SqliteStorage;

const IDS: [&str; 3] = ["a", "b", "c"];

/// A database of three accounts, each with the number of the change that made it what it is for a revision.
struct Served {
    directory: TempDir,
    storage: SqliteStorage,
    /// By the number of a change, what it makes of the accounts.
    states: std::sync::Mutex<Vec<[u64; 3]>>,
    /// The change that was begun last, and the one that was committed last.
    begun: AtomicU64,
    committed: AtomicU64,
}

fn revision(number: u64) -> [u8; 16] {
    u128::from(number).to_be_bytes()
}

impl Served {
    fn new() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let storage = SqliteStorage::open_and_migrate(directory.path().join("catalogue.db")).unwrap();
        let served = Self {
            directory,
            storage,
            states: vec![[0; 3]].into(),
            begun: AtomicU64::new(0),
            committed: AtomicU64::new(0),
        };
        let host = served.host();
        for id in IDS {
            host.execute("INSERT INTO accounts (id, revision) VALUES (?1, ?2)", (id, revision(0))).unwrap();
        }
        served
    }

    fn host(&self) -> Connection {
        let host = Connection::open(self.directory.path().join("catalogue.db")).unwrap();
        host.pragma_update(None, "synchronous", "off").unwrap();
        host
    }

    fn ask(&self, account: usize) {
        let at_least = self.committed.load(Ordering::SeqCst);
        let found = block_on(self.storage.revision(&AccountId::from(IDS[account]))).unwrap().unwrap();
        let at_most = self.begun.load(Ordering::SeqCst);
        let states = self.states.lock().unwrap();
        let is = |state: &[u64; 3]| Revision::from_bytes(revision(state[account])) == found;
        let fits = states[at_least as usize..=at_most as usize].iter().any(is);
        assert!(fits, "{found:?} of {} after {at_least}, before {at_most}: {states:?}", IDS[account]);
    }

    /// Makes changes, most accounts' twice on end, of which each sixth puts a backup back.
    fn change(&self) {
        let (mut host, copy) = (self.host(), self.directory.path().join("copy.db"));
        let mut backed_up = [0; 3];
        host.backup("main", &copy, None::<fn(_)>).unwrap();
        for number in 1..=12 {
            let account = [0, 1, 1, 2, 2, 0, 0][number as usize % 7];
            let mut state = *self.states.lock().unwrap().last().unwrap();
            if number % 6 == 0 {
                state = backed_up;
            } else {
                state[account] = number;
            }
            self.states.lock().unwrap().push(state);
            self.begun.store(number, Ordering::SeqCst);
            point();
            if number % 6 == 0 {
                host.restore("main", &copy, None::<fn(_)>).unwrap();
            } else {
                let change = "UPDATE accounts SET revision = ?2 WHERE id = ?1";
                host.execute(change, (IDS[account], revision(number))).unwrap();
            }
            point();
            self.committed.store(number, Ordering::SeqCst);
            (0..3).for_each(|account| self.ask(account));
            if number == 4 {
                host.backup("main", &copy, None::<fn(_)>).unwrap();
                backed_up = state;
            }
        }
    }
}

#[test]
fn accounts_beside_commits_and_backups_that_are_put_back() {
    explore(100, || {
        let served = Arc::new(Served::new());
        let mut threads: Vec<_> = (0..2)
            .map(|first| {
                let served = Arc::clone(&served);
                thread::spawn(move || (first..first + 18).for_each(|account| served.ask(account % 3)))
            })
            .collect();
        let changed = Arc::clone(&served);
        threads.push(thread::spawn(move || changed.change()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        (0..3).for_each(|account| served.ask(account));
    });
}
