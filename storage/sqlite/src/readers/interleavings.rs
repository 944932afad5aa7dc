//! Threads that read during commits and while a file is replaced, model-checked with shuttle: no result is older than what
//! was committed before the read began.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use catalogue_core::AccountId;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    CourseRow, CourseRows, CourseStorage as _, CredentialStorage as _, PageRequest, Revision,
};
use catalogue_interleavings::{block_on, explore, point, thread};
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::storage::SqliteStorage;

const KEY: TokenDigest = TokenDigest::from_bytes([7; 32]);

/// Returns a directory in memory if possible: each connection waits for a disk when it closes.
fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Database file in WAL mode with an account, its key, and two courses of version 0.
static TEMPLATE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = directory();
    let path = directory.path().join("catalogue.db");
    SqliteStorage::migrate(&path).unwrap();
    let host = Connection::open(&path).unwrap();
    let course = "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('a', ?1, ?2, '0', 'en')";
    host.execute("INSERT INTO accounts (id) VALUES ('a')", []).unwrap();
    host.execute(course, (1, "one")).unwrap();
    host.execute(course, (2, "two")).unwrap();
    let key = "INSERT INTO credentials (digest, account_id, id, kind, scopes, created_at) \
               VALUES (?1, 'a', 'key', 'api-key', 'read:courses', 1)";
    host.execute(key, [KEY.as_bytes()]).unwrap();
    (directory, path)
});

/// A storage under test, and the versions of its courses.
#[derive(Clone)]
struct Served {
    directory: Arc<TempDir>,
    storage: SqliteStorage,
    /// The version of the courses at each revision.
    revisions: Arc<std::sync::Mutex<HashMap<Revision, u64>>>,
    /// The version of the last change that has begun.
    begun: Arc<AtomicU64>,
    /// The version of the last change that was committed.
    committed: Arc<AtomicU64>,
}

impl Served {
    fn new() -> Self {
        let directory = directory();
        let path = directory.path().join("catalogue.db");
        fs::copy(&TEMPLATE.1, &path).unwrap();
        let storage = SqliteStorage::open(path).unwrap();
        let (revisions, begun, committed) = Default::default();
        let served = Self { directory: Arc::new(directory), storage, revisions, begun, committed };
        served.record_revision(&served.host("catalogue.db"), 0);
        served
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn host(&self, name: &str) -> Connection {
        let host = Connection::open(self.path(name)).unwrap();
        host.pragma_update(None, "synchronous", "off").unwrap();
        host
    }

    fn record_revision(&self, host: &Connection, version: u64) {
        let revision = host.query_row("SELECT revision FROM accounts", [], |row| row.get(0)).unwrap();
        self.revisions.lock().unwrap().insert(Revision::from_bytes(revision), version);
    }

    /// Changes the courses' titles to `version`.
    fn retitle(&self, host: &mut Connection, version: u64) {
        let transaction = host.transaction().unwrap();
        transaction.execute("UPDATE courses SET title = ?1", [version.to_string()]).unwrap();
        self.record_revision(&transaction, version);
        transaction.commit().unwrap();
    }

    /// Makes a change, and records its version as begun before and as committed after it.
    fn change(&self, version: u64, make: impl FnOnce()) {
        self.begun.store(version, Ordering::SeqCst);
        point();
        make();
        point();
        self.committed.store(version, Ordering::SeqCst);
        point();
    }

    /// Commits six changes.
    fn commit(&self) {
        let mut host = self.host("catalogue.db");
        (1..=6).for_each(|version| self.change(version, || self.retitle(&mut host, version)));
    }

    /// Reads a revision, then a page, as the core does for a response that it caches. Asserts that the page is of one version
    /// and not older than the last commit before the read. If the page returns the same revision, their versions must match.
    fn read(&self) {
        let at_least = self.committed.load(Ordering::SeqCst);
        let account = AccountId::new("a");
        let revision = block_on(self.storage.revision(&account)).unwrap();
        let mut titles = Vec::new();
        let mut take = |row: CourseRow<'_>| titles.push(row.title.to_owned());
        let request = PageRequest::default();
        let mut rows = CourseRows::new(request.limit, &mut take);
        let after = block_on(self.storage.list_courses(&account, &request, &mut rows)).unwrap();
        let version = titles[0].parse::<u64>().unwrap();
        assert!(titles.len() == 2 && titles[1] == titles[0], "mixed versions: {titles:?}");
        let at_most = self.begun.load(Ordering::SeqCst);
        assert!((at_least..=at_most).contains(&version), "{version} after {at_least}");
        if after == revision {
            assert_eq!(
                self.revisions.lock().unwrap()[&revision.unwrap()],
                version,
                "the revision belongs to another version"
            );
        }
    }

    /// Runs `read` on two threads, while another thread makes `change`.
    fn read_during(&self, read: impl Fn(&Self) + Send + Sync + 'static, change: impl FnOnce(&Self) + Send + 'static) {
        let read = Arc::new(read);
        let mut threads: Vec<_> = (0..2)
            .map(|_| {
                let (served, read) = (self.clone(), Arc::clone(&read));
                thread::spawn(move || (0..8).for_each(|_| read(&served)))
            })
            .collect();
        let served = self.clone();
        threads.push(thread::spawn(move || change(&served)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        read(self);
    }
}

#[test]
fn reads_during_commits_are_fresh() {
    explore(100, || Served::new().read_during(Served::read, Served::commit));
}

/// The key is revoked in odd versions.
#[test]
fn key_lookups_during_revocations_are_fresh() {
    let read = |served: &Served| {
        let at_least = served.committed.load(Ordering::SeqCst);
        let found = block_on(served.storage.find_credential(&KEY)).unwrap().unwrap();
        let is_revoked = u64::from(found.revoked_at.is_some());
        let mut versions = at_least..=served.begun.load(Ordering::SeqCst);
        assert!(versions.any(|version| version % 2 == is_revoked), "{is_revoked} after {at_least}");
    };
    explore(100, move || {
        let revoke = |served: &Served| {
            let host = served.host("catalogue.db");
            let change = "UPDATE credentials SET revoked_at = nullif(?1 % 2, 0)";
            (1..=8).for_each(|version| {
                served.change(version, || assert_eq!(host.execute(change, [version as i64]), Ok(1)));
            });
        };
        Served::new().read_during(read, revoke);
    });
}

/// Closing connections to the old file must not drop a lock of the new file's readers on its index.
#[test]
#[cfg(target_os = "linux")]
fn reads_during_file_replacement_are_fresh() {
    use std::os::unix::fs::MetadataExt as _;

    let read_during_replacements = |rounds: u64| {
        let replace = move |served: &Served| {
            for round in 1..=rounds {
                fs::copy(&TEMPLATE.1, served.path("next.db")).unwrap();
                served.retitle(&mut served.host("next.db"), round * 10);
                served.change(round * 10, || {
                    if round == rounds {
                        // The old WAL and its index stay, but the WAL is empty.
                        served
                            .host("catalogue.db")
                            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                            .unwrap();
                    } else {
                        // Without the old WAL and its index, the first read creates new ones.
                        let _ = fs::remove_file(served.path("catalogue.db-wal"));
                        let _ = fs::remove_file(served.path("catalogue.db-shm"));
                    }
                    fs::rename(served.path("next.db"), served.path("catalogue.db")).unwrap();
                    // Without this call, the replacement is noticed within a millisecond (decision A14).
                    served.storage.readers.close_replaced().unwrap();
                });
                let mut host = served.host("catalogue.db");
                served.change(round * 10 + 1, || served.retitle(&mut host, round * 10 + 1));
            }
        };
        let served = Served::new();
        served.read_during(Served::read, replace);
        let index = fs::metadata(served.path("catalogue.db-shm")).unwrap().ino();
        let (held, byte) = (format!(" {} ", std::process::id()), format!(":{index} 128 128"));
        // The kernel returns the list in pieces, so a line of it may be missing.
        let is_held = || {
            let locks = fs::read_to_string("/proc/locks").unwrap();
            locks.lines().any(|lock| lock.contains(&held) && lock.ends_with(&byte))
        };
        assert!((0..100).any(|_| is_held()), "the index was never locked");
    };
    // One round does not suffice: the threads may not have opened the database before its replacement.
    explore(100, move || read_during_replacements(1));
    explore(75, move || read_during_replacements(2));
}

/// Two reads return the same content if the file has the same version before and after each of them.
#[test]
#[cfg(target_os = "linux")]
fn equal_versions_have_equal_content() {
    explore(100, || {
        let observed = Arc::new(std::sync::Mutex::new(Vec::<(Version, String)>::new()));
        let read = move |served: &Served| {
            let readers = &served.storage.readers;
            let Some(before) = readers.version().unwrap() else { return };
            point();
            let title = |connection: &Reader| {
                connection.query_row("SELECT min(title) FROM courses", [], |row| row.get::<_, String>(0))
            };
            let title = readers.read(title).unwrap();
            if readers.version().unwrap() != Some(before) {
                return;
            }
            let mut observed = observed.lock().unwrap();
            for (_, other) in observed.iter().filter(|(version, _)| *version == before) {
                assert_eq!(*other, title);
            }
            observed.push((before, title));
        };
        Served::new().read_during(read, Served::commit);
    });
}
