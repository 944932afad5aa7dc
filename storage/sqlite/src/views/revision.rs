//! [`FileRevision`]: revisions where the state of the whole file is all that is known.

use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use catalogue_core::AccountId;
use catalogue_core::storage::Revision;

use crate::wal_watcher::FileState;

/// The last state that was seen, and its number in this process. Any commit to the file makes it another.
#[derive(Default)]
pub(super) struct FileRevision(Mutex<Option<(FileState, u64)>>);

impl FileRevision {
    /// The account's revision in that state. A state that comes back after another has a fresh one: no revision has two
    /// states. It is hashes with keys that this process drew at random, so no other process has it, nor another account.
    pub(super) fn of(&self, state: FileState, account: &AccountId) -> Revision {
        static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

        let number = self.number(state);
        let [first, second] = KEYS.each_ref().map(|key| u128::from(key.hash_one((number, account.as_str()))));
        Revision::from_bytes((first << 64 | second).to_be_bytes())
    }

    fn number(&self, state: FileState) -> u64 {
        static COUNT: Mutex<u64> = Mutex::new(0);

        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, number)) = &*last
            && *known == state
        {
            return *number;
        }
        let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        last.insert((state, *count)).1
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::connection::Database;
    use crate::wal_watcher::WalWatcher;

    /// A clock of the file system that stands still between two commits leaves the file's times and length alike.
    #[test]
    fn a_commit_makes_another_revision_where_the_file_looks_the_same() {
        for journal_mode in ["wal", "delete", "truncate", "persist"] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("team.sqlite3");
            let writer = Connection::open(&path).unwrap();
            writer.pragma_update_and_check(None, "journal_mode", journal_mode, |_| Ok(())).unwrap();
            writer.execute_batch("CREATE TABLE states (state)").unwrap();
            let (database, watcher, revisions) =
                (Database::Foreign(path), WalWatcher::default(), FileRevision::default());
            let file = database.file_version().unwrap();
            let revision = || {
                let state = watcher.state(&database, file).unwrap().unwrap();
                revisions.of(state, &AccountId::new("anna"))
            };
            let mut before = revision();
            for _ in 0..5 {
                assert_eq!(revision(), before, "{journal_mode}");
                writer.execute("INSERT INTO states VALUES (1)", []).unwrap();
                let now = revision();
                assert_ne!(now, before, "{journal_mode}");
                before = now;
            }
        }
    }
}
