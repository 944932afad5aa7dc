//! What is kept of an account outlives the commits of others, and no change of its own.

mod histories;

use std::cell::Cell;
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::cache::Cache;
use crate::connection::Database;
use crate::readers::Readers;
use crate::storage::SqliteStorage;

/// A database of three accounts, and how often it was really read.
struct Counted {
    directory: TempDir,
    readers: Readers,
    /// By account; the one without a name may be changed by any.
    cache: Cache<&'static str, i64>,
    reads: Cell<u32>,
}

impl Counted {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalogue.db");
        SqliteStorage::migrate(&path).unwrap();
        let readers = Readers::new(Database::File(path), None).with_changes();
        let cache = Cache::new(10, |id, _| Some(AccountId::from(*id)).filter(|id| !id.as_str().is_empty()));
        let counted = Self { directory, readers, cache, reads: Cell::new(0) };
        let course =
            "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES (?1, 1, 'c', '', 'en')";
        let host = counted.host();
        for id in ["a", "b", "c"] {
            host.execute("INSERT INTO accounts (id) VALUES (?1)", [id]).unwrap();
            host.execute(course, [id]).unwrap();
        }
        counted
    }

    fn host(&self) -> Connection {
        Connection::open(self.directory.path().join("catalogue.db")).unwrap()
    }

    /// Which of `ids` had to be read.
    fn read<const N: usize>(&self, ids: [&'static str; N]) -> [bool; N] {
        ids.map(|id| {
            let before = self.reads.get();
            let read = |_: &Connection| {
                self.reads.set(before + 1);
                Ok(Some(1))
            };
            assert_eq!(self.readers.read_cached(&self.cache, &id, read).unwrap(), Some(1));
            self.reads.get() > before
        })
    }

    /// The same after a change by a host's connection.
    fn read_after(&self, host: &Connection, sql: &str) -> [bool; 4] {
        host.execute_batch(sql).unwrap();
        self.read(["a", "b", "c", ""])
    }
}

const ALL: [bool; 4] = [true; 4];

#[test]
#[cfg(target_os = "linux")]
fn a_commit_ends_what_is_kept_of_its_own_account_alone() {
    let counted = Counted::new();
    let host = counted.host();
    assert_eq!(counted.read(["a", "b", "c", ""]), ALL);
    let of_b = "UPDATE courses SET title = 'x' WHERE account_id = 'b'";
    assert_eq!(counted.read_after(&host, of_b), [false, true, true, false], "c was the last before");
    // Its next changes are not told.
    for _ in 0..2 {
        assert_eq!(counted.read_after(&host, of_b), [false, true, false, false]);
    }
    let changed = counted.read_after(&host, "UPDATE modules SET title = ''; PRAGMA user_version = 7");
    assert_eq!(changed, [false, true, false, false], "the last that was changed may have been again");
    let both = "UPDATE courses SET title = 'x' WHERE account_id <> 'b'";
    assert_eq!(counted.read_after(&host, both), [true, true, true, false]);
    assert_eq!(
        counted.read_after(&host, "INSERT OR REPLACE INTO accounts (id) VALUES ('a')"),
        [true, false, true, false]
    );
    // Without a change of its own between, it is known again.
    assert_eq!(counted.read(["a", "b", "c", ""]), [false; 4]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_change_of_credentials_revocations_or_accounts_ends_all() {
    let counted = Counted::new();
    let host = counted.host();
    for change in [
        "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
         VALUES (zeroblob(32), 'a', 'k', 'api-key', '', 1)",
        "UPDATE credentials SET scopes = 'read:courses'",
        "UPDATE credentials SET expires_at = 5",
        "UPDATE credentials SET revoked_at = 5",
        "UPDATE credentials SET account_id = 'b'",
        "UPDATE credentials SET digest = randomblob(32)",
        "UPDATE credentials SET id = 'l'",
        "UPDATE credentials SET kind = 'oauth'",
        "DELETE FROM credentials",
        "INSERT INTO revoked_tokens VALUES (zeroblob(32), 1, 1)",
        "UPDATE revoked_tokens SET digest = randomblob(32)",
        "DELETE FROM revoked_tokens",
        "DELETE FROM accounts WHERE id = 'c'",
    ] {
        counted.read(["a", "b", "c", ""]);
        assert_eq!(counted.read_after(&host, change), ALL, "{change}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_no_request_asks_for_ends_nothing() {
    let counted = Counted::new();
    let host = counted.host();
    host.execute_batch(
        "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
         VALUES (zeroblob(32), 'a', 'k', 'api-key', '', 1)",
    )
    .unwrap();
    counted.read(["a", "b", "c", ""]);
    for change in [
        "UPDATE credentials SET last_used_at = 7, name = 'n', replaced_by = 'x'",
        "INSERT INTO sign_ins VALUES (zeroblob(32), 'a', 'link', 1, 9)",
        "INSERT INTO credential_events VALUES ('a', 'evt_1', 3, 'key_created', 'owner', 'k', 'n')",
        "UPDATE accounts SET email = 'e'",
        "PRAGMA wal_checkpoint(TRUNCATE)",
    ] {
        assert_eq!(counted.read_after(&host, change), [false; 4], "{change}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_id_that_is_no_utf_8_ends_all_and_fails_nobody() {
    let counted = Counted::new();
    let host = counted.host();
    counted.read(["a", "b", "c", ""]);
    assert_eq!(counted.read_after(&host, "INSERT INTO accounts (id) VALUES (CAST(X'FF41' AS TEXT))"), ALL);
    assert_eq!(
        counted.read_after(&host, "UPDATE courses SET title = 'x' WHERE account_id = 'b'"),
        [false, true, false, false]
    );
}

/// As a thread does that reads the table from a slow disk.
#[test]
#[cfg(target_os = "linux")]
fn who_waits_for_anothers_look_has_left_the_thread() {
    static HAS_LEFT: LazyLock<(mpsc::SyncSender<()>, Mutex<mpsc::Receiver<()>>)> = LazyLock::new(|| {
        let (sender, receiver) = mpsc::sync_channel(8);
        (sender, Mutex::new(receiver))
    });
    let counted = Counted::new();
    counted.readers.slow.run_aside(|work| {
        HAS_LEFT.0.send(()).unwrap();
        work();
    });
    (0..10).for_each(|_| counted.readers.slow.took(50_000_000));
    let Counted { readers, cache, .. } = &counted;
    thread::scope(|scope| {
        let look = readers.changes.as_ref().unwrap().seen();
        let waits = scope.spawn(|| readers.read_cached(cache, &"a", |_| Ok(Some(1))).unwrap());
        HAS_LEFT.1.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("it waits on its own thread");
        drop(look);
        assert_eq!(waits.join().unwrap(), Some(1));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn more_accounts_than_are_told_apart_are_all_changed() {
    let version = Counted::new().readers.version().unwrap().1.unwrap();
    let change = |number: i64| Change {
        mark: Mark { number, nonce: vec![0], schema: 1 },
        account: Some(AccountId::new(number.to_string())),
    };
    let mut seen = Seen::default();
    seen.add(version, vec![change(0)]);
    for most in [ACCOUNTS as i64 - 2, ACCOUNTS as i64 - 1] {
        let look = seen.look();
        let changes = (seen.last.as_ref().unwrap().number..=most).map(change).collect();
        seen.add(version, changes);
        assert_eq!(seen.is_changed_since(look, Some(&AccountId::from("none"))), most == ACCOUNTS as i64 - 1);
    }
}

#[test]
fn the_changes_since_one_are_a_range_of_the_key() {
    let plan = crate::plan::plan(SINCE);
    assert_eq!(plan[0], "SEARCH account_changes USING INTEGER PRIMARY KEY (rowid>?)");
    assert!(!plan.iter().any(|step| step.starts_with("SCAN account_changes") || step.contains("TEMP")), "{plan:?}");
}
