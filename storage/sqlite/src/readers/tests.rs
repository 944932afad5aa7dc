//! Cached lookups: how often they read, what invalidates them, and how often the path is checked.

use std::cell::Cell;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::file::FileVersion;
use crate::storage::SqliteStorage;

/// A database in a file, and how many lookups have read it.
struct Counted {
    directory: TempDir,
    readers: Readers,
    cache: Cache<u8, i64>,
    reads: Cell<u32>,
}

impl Counted {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalogue.db");
        SqliteStorage::migrate(&path).unwrap();
        let readers = Readers::new(Database::File(path), None);
        Self { directory, readers, cache: Cache::new(10), reads: Cell::new(0) }
    }

    fn host(&self) -> Connection {
        Connection::open(self.directory.path().join("catalogue.db")).unwrap()
    }

    fn file(&self) -> FileVersion {
        self.readers.database().file_version().unwrap()
    }

    /// Simulates a check at `began` that finds `file` at the path.
    fn check_at(&self, file: FileVersion, began: u64) -> bool {
        self.readers.generation_mut().as_mut().unwrap().check(file, began)
    }

    fn is_recent(&self, now: u64) -> bool {
        self.readers.generation().as_ref().unwrap().is_recent(now)
    }

    /// Returns the number of accounts by a cached lookup; `None`, which is not cached, if there are none.
    fn accounts(&self) -> Option<i64> {
        let count = |connection: &Reader| {
            self.reads.set(self.reads.get() + 1);
            let count = connection.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0))?;
            Ok(Some(count).filter(|count| *count > 0))
        };
        self.readers.read_cached(&self.cache, &0, count).unwrap()
    }
}

const ADD: &str = "INSERT INTO accounts (id) VALUES (hex(randomblob(8)))";

#[test]
#[cfg(target_os = "linux")]
fn value_is_read_once_until_next_commit() {
    let database = Counted::new();
    let host = database.host();
    for round in 1..=20 {
        host.execute(ADD, []).unwrap();
        for _ in 0..3 {
            assert_eq!(database.accounts(), Some(round));
        }
        assert_eq!(i64::from(database.reads.get()), round);
    }
    host.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    assert_eq!(database.accounts(), Some(20));
    host.execute(ADD, []).unwrap();
    assert_eq!(database.accounts(), Some(21));
}

#[test]
fn missing_value_is_not_cached() {
    let database = Counted::new();
    for _ in 0..3 {
        assert_eq!(database.accounts(), None);
    }
    assert_eq!(database.reads.get(), 3);
}

#[test]
fn database_without_wal_is_not_cached() {
    let database = Counted::new();
    let host = database.host();
    host.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    for round in 1..=3 {
        host.execute(ADD, []).unwrap();
        assert_eq!(database.accounts(), Some(round));
        assert_eq!(database.accounts(), Some(round));
    }
    assert_eq!(database.reads.get(), 6);
}

#[test]
#[cfg(target_os = "linux")]
fn watched_database_stays_in_wal_mode() {
    let database = Counted::new();
    let host = database.host();
    host.execute(ADD, []).unwrap();
    assert_eq!(database.accounts(), Some(1));
    // Close the idle connections; only the watching connection stays.
    while database.readers.generation().as_ref().and_then(Generation::take).is_some() {}
    let mode: rusqlite::Result<String> = host.query_row("PRAGMA journal_mode = delete", [], |row| row.get(0));
    assert!(mode.as_ref().map_or(true, |mode| mode == "wal"), "{mode:?}");
    drop(host);
    assert!(database.directory.path().join("catalogue.db-shm").exists());
    database.host().execute(ADD, []).unwrap();
    assert_eq!(database.accounts(), Some(2));
}

/// A file that replaces another is noticed within a millisecond (decision A14).
#[test]
#[cfg(target_os = "linux")]
fn path_check_is_valid_for_a_millisecond() {
    let database = Counted::new();
    database.accounts();
    let (file, at) = (database.file(), nanos() + 1_000_000_000_000);
    assert!(database.check_at(file, at) && database.check_at(file, at - 1));
    assert!(database.is_recent(at + 999_999));
    let version = database.readers.version().unwrap();
    assert!(version.is_some());
    let known = |now| database.readers.generation().as_ref().unwrap().known_version(now);
    assert_eq!((known(at + 999_999), known(at + 1_000_000)), (version, None));
    assert!(!database.is_recent(at + 1_000_000));
    assert!(!database.check_at(Counted::new().file(), at), "another file");
    assert!(!database.is_recent(at));
}

/// After another file was copied over the database, the index of an empty WAL looks the same, but connections cache old pages.
#[test]
#[cfg(target_os = "linux")]
fn touched_file_changes_version_and_closes_idle_connections() {
    let database = Counted::new();
    database.host().execute(ADD, []).unwrap();
    database.accounts();
    let before = database.readers.version().unwrap().unwrap();
    assert_eq!(database.readers.version().unwrap(), Some(before));
    let (path, file) = (database.directory.path().join("catalogue.db"), database.file());
    // The file's ctime changes, and nothing is committed.
    while database.file() == file {
        std::fs::set_permissions(&path, std::fs::metadata(&path).unwrap().permissions()).unwrap();
    }
    assert!(database.check_at(database.file(), nanos() + 1_000_000_000_000));
    assert!(database.readers.generation().as_ref().and_then(Generation::take).is_none());
    assert_ne!(database.readers.version().unwrap(), Some(before));
}

#[test]
#[cfg(target_os = "linux")]
fn slow_reads_are_offloaded_and_cached_lookups_are_not() {
    thread_local!(static OFFLOADED: Cell<u32> = const { Cell::new(0) });

    let database = Counted::new();
    let slow = || (0..4).for_each(|_| database.readers.offload.record(5_000_000));
    database.readers.offload.set(|read| {
        OFFLOADED.set(OFFLOADED.get() + 1);
        read();
    });
    database.host().execute(ADD, []).unwrap();
    slow();
    for _ in 0..3 {
        assert_eq!(database.accounts(), Some(1));
    }
    assert_eq!((database.reads.get(), OFFLOADED.get()), (1, 1));
    // A commit makes a read necessary.
    database.host().execute(ADD, []).unwrap();
    slow();
    assert_eq!(database.accounts(), Some(2));
    assert_eq!((database.reads.get(), OFFLOADED.get()), (2, 2));
    // Simulate a recent check of the path, which stays recent however long this thread is preempted.
    database.check_at(database.file(), nanos() + 1_000_000_000_000);
    database.readers.version().unwrap();
    assert_eq!(OFFLOADED.get(), 2, "a recent check needs no read");
}

/// Without a WAL, each commit changes the file. A check that stayed valid would only delay the reopening after a commit.
#[test]
fn path_is_checked_each_time_without_wal() {
    let database = Counted::new();
    database.host().query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    database.accounts();
    let at = nanos();
    assert!(database.check_at(database.file(), at));
    assert!(!database.is_recent(at));
}

/// The index of an empty WAL looks the same whatever is in the database.
#[test]
#[cfg(unix)]
fn reopened_file_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let [link, here, there] = ["link", "here", "there"].map(|name| directory.path().join(name));
    let link_to = |path: &std::path::Path| {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(path, &link).unwrap();
    };
    for path in [&here, &there] {
        std::fs::create_dir(path).unwrap();
        SqliteStorage::migrate(path.join("catalogue.db")).unwrap();
        Connection::open(path.join("catalogue.db")).unwrap().execute(ADD, []).unwrap();
    }
    let readers = Readers::new(Database::File(link.join("catalogue.db")), None);
    let database = Counted { directory, readers, cache: Cache::new(10), reads: Cell::new(0) };

    link_to(&here);
    assert_eq!(database.accounts(), Some(1));
    link_to(&there);
    database.readers.read_cached(&Cache::new(1), &0, |_| Ok(Some(0))).unwrap();
    // The only connection to `here`: closing it removes the WAL, and the next connection creates a new one.
    Connection::open(here.join("catalogue.db")).unwrap().execute(ADD, []).unwrap();
    link_to(&here);
    assert_eq!(database.accounts(), Some(2));
}
