//! A host application's SQLite file, and a writer that does not use this crate.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use catalogue_core::storage::CourseViews;
use catalogue_core::{AccountId, Timestamp};
use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::host_app;
use rusqlite::Connection;
use tempfile::TempDir;

const TABLES: &str = include_str!("tables.sql");

/// Revisions that triggers replace with each change.
pub(super) const REVISIONS: &str = include_str!("revisions.sql");

/// Formats in which the host application writes times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Times {
    Microseconds,
    Rfc3339,
    SpaceSeparated,
    /// Any of the formats above, by the remainder of the microseconds modulo 3.
    Mixed,
}

impl Times {
    fn written(self, time: Timestamp) -> String {
        let exact = time.to_exact_string();
        match self {
            Self::Microseconds => time.as_microseconds().to_string(),
            Self::Rfc3339 => format!("'{exact}'"),
            Self::SpaceSeparated => format!("'{}'", exact.replace('T', " ").replace('Z', "")),
            Self::Mixed => match time.as_microseconds().rem_euclid(3) {
                0 => Self::Microseconds.written(time),
                1 => Self::Rfc3339.written(time),
                _ => Self::SpaceSeparated.written(time),
            },
        }
    }
}

/// Variant of a host application's database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) times: Times,
    pub(super) journal_mode: &'static str,
    pub(super) has_revisions: bool,
    /// Whether one connection stays open, as in a program, and every second transaction uses it.
    pub(super) keeps_connection: bool,
}

pub(super) const PLAIN: Kind =
    Kind { times: Times::SpaceSeparated, journal_mode: "wal", has_revisions: false, keeps_connection: false };

pub(super) const WITH_REVISIONS: Kind = Kind { has_revisions: true, ..PLAIN };

/// Returns a variant for each journal mode, without and with revisions.
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    let modes = ["wal", "delete", "truncate", "persist"].into_iter();
    modes.flat_map(|journal_mode| [PLAIN, WITH_REVISIONS].map(|kind| Kind { journal_mode, ..kind }))
}

pub(super) struct HostApp {
    pub(super) storage: SqliteStorage,
    pub(super) kind: Kind,
    pub(super) directory: TempDir,
    /// A connection that stays open, and whether the next transaction uses it.
    kept: Option<Mutex<(Connection, bool)>>,
}

impl HostApp {
    pub(super) fn new(kind: Kind) -> Self {
        Self::with_tables(kind, &format!("{TABLES}{}", if kind.has_revisions { REVISIONS } else { "" }))
    }

    pub(super) fn with_tables(kind: Kind, tables: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let host_app = directory.path().join("host.sqlite3");
        let writer = Connection::open(&host_app).unwrap();
        writer.pragma_update_and_check(None, "journal_mode", kind.journal_mode, |_| Ok(())).unwrap();
        writer.execute_batch(tables).unwrap();
        drop(writer);
        let storage = SqliteStorage::open_and_migrate_views(directory.path().join("keys.db"), host_app).unwrap();
        let host_app = Self { storage, kind, directory, kept: None };
        let kept = kind.keeps_connection.then(|| Mutex::new((host_app.writer(), true)));
        Self { kept, ..host_app }
    }

    pub(super) fn database(&self) -> PathBuf {
        self.directory.path().join("host.sqlite3")
    }

    pub(super) fn keys(&self) -> PathBuf {
        self.directory.path().join("keys.db")
    }

    /// Opens a connection of the host application.
    pub(super) fn writer(&self) -> Connection {
        let writer = Connection::open(self.database()).unwrap();
        // A test's tables need not survive a power failure.
        writer.pragma_update(None, "synchronous", "OFF").unwrap();
        writer.busy_timeout(Duration::from_secs(20)).unwrap();
        writer
    }

    /// Runs statements as the host application, in one transaction.
    pub(super) fn write(&self, sql: &str) {
        let sql = format!("BEGIN IMMEDIATE; {sql}; COMMIT");
        if let Some(kept) = &self.kept {
            let (connection, is_next) = &mut *kept.lock().unwrap();
            *is_next = !*is_next;
            if !*is_next {
                return connection.execute_batch(&sql).unwrap();
            }
        }
        self.writer().execute_batch(&sql).unwrap();
    }
}

impl host_app::HostApp for HostApp {
    type Storage = SqliteStorage;
    type Kind = Kind;

    const PLAIN: Kind = PLAIN;
    const WITH_REVISIONS: Kind = WITH_REVISIONS;
    const ACCEPTS_NUL: bool = true;

    fn kinds() -> Vec<Kind> {
        kinds().map(|kind| Kind { keeps_connection: true, ..kind }).collect()
    }

    async fn new(kind: Kind) -> Option<Self> {
        Some(Self::new(kind))
    }

    fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    fn views(&self) -> &dyn CourseViews {
        self.storage.views().unwrap()
    }

    async fn execute(&self, sql: &str) {
        self.write(sql);
    }

    fn insert_owner(&self, account: &AccountId) -> String {
        format!("INSERT OR IGNORE INTO owners (login) VALUES ({});", self.text(account.as_str()))
    }

    fn owner(&self, account: &AccountId) -> String {
        format!("(SELECT id FROM owners WHERE login = {})", self.text(account.as_str()))
    }

    fn text(&self, text: &str) -> String {
        if text.contains('\0') {
            let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            return format!("CAST(x'{digits}' AS TEXT)");
        }
        format!("'{}'", text.replace('\'', "''"))
    }

    fn times(&self, created_at: Timestamp, published_at: Option<Timestamp>) -> [String; 2] {
        let written = |time| self.kind.times.written(time);
        [written(created_at), published_at.map_or("NULL".to_owned(), written)]
    }

    async fn remove_events(&self, account: &AccountId) {
        let keys = Connection::open(self.keys()).unwrap();
        keys.execute("DELETE FROM credential_events WHERE account_id = ?1", [account.as_str()]).unwrap();
    }

    fn has_per_account_revisions(&self) -> bool {
        self.kind.has_revisions
    }

    fn reads_may_be_blocked(&self) -> bool {
        self.kind.journal_mode == "delete"
    }
}
