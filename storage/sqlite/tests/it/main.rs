//! The storage through its public API, and its database through plain SQL.

mod backup;
mod failing_writes;
mod integrity;
mod last_uses;
mod locked;
mod lookup_cache;
mod never_stale;
mod opening;
mod plain_sql;
mod secure_delete;
mod views;
mod waiting;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use catalogue_sqlite::SqliteStorage;
use catalogue_storage_tests::database::{Database, course, import_one_course, items, key_of};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

catalogue_storage_conformance::tests!(crate::fixture);
mod laws {
    catalogue_storage_tests::laws!(crate::Sqlite);
}

/// A database in a separate directory.
struct Sqlite {
    storage: SqliteStorage,
    directory: TempDir,
    host: OnceCell<Connection>,
}

impl Sqlite {
    async fn new() -> Self {
        let (storage, directory) = fixture().await;
        Self { storage, directory, host: OnceCell::new() }
    }

    fn path(&self) -> PathBuf {
        database_in(&self.directory)
    }

    /// Opens a connection of the host application.
    fn open_host(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Returns a connection of the host application that stays open.
    fn host(&self) -> &Connection {
        self.host.get_or_init(|| {
            let host = self.open_host();
            host.pragma_update(None, "foreign_keys", true).unwrap();
            host
        })
    }
}

impl Database for Sqlite {
    type Storage = SqliteStorage;

    const WITHOUT_FOREIGN_KEYS: &str = "PRAGMA foreign_keys = false;";
    const REPLACE_REVISIONS: &str = "UPDATE accounts SET revision = randomblob(16);";
    const REVISION_CHANGES: &[&str] = &[
        "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Three')",
        "INSERT OR REPLACE INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Tres')",
    ];
    const MODULE_CHANGES: &[(&str, u32)] = &[
        ("INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'Three')", 1),
        (
            "INSERT OR REPLACE INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'renamed', 3, 'x')",
            1,
        ),
        (
            "INSERT OR REPLACE INTO courses (account_id, created_at, slug, title, language) \
             VALUES ('acc', 7, 'renamed', 'Replaced', 'en')",
            1,
        ),
    ];
    const REFUSED_CHANGES: &[&str] = &["UPDATE courses SET hidden = 2"];
    const HOSTILE_SETTINGS: &str = "";

    fn bytes(bytes: &[u8]) -> String {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        format!("X'{digits}'")
    }

    async fn create() -> Option<Self> {
        Some(Self::new().await)
    }

    fn storage(&self) -> &SqliteStorage {
        &self.storage
    }

    async fn open_storage(&self) -> SqliteStorage {
        SqliteStorage::open(self.path()).unwrap()
    }

    async fn try_execute(&self, sql: &str) -> Result<(), String> {
        self.host().execute_batch(sql).map_err(|error| error.to_string())
    }

    async fn execute_without_triggers(&self, sql: &str) {
        let set = |enabled| self.host().set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled).unwrap();
        set(false);
        self.execute(sql).await;
        set(true);
    }

    async fn count(&self, from: &str) -> i64 {
        self.host().query_row(&format!("SELECT count(*) FROM {from}"), [], |row| row.get(0)).unwrap()
    }
}

/// Creates an empty database in a separate directory.
async fn fixture() -> (SqliteStorage, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
    (storage, directory)
}

fn database_in(directory: &TempDir) -> PathBuf {
    directory.path().join("catalogue.db")
}

/// Calls `get` until `is_new` or until a millisecond has passed: any request that arrives a millisecond after a file
/// was replaced notices the replacement (decision A14).
async fn wait_until_new<T>(get: impl AsyncFn() -> T, is_new: impl Fn(&T) -> bool) -> T {
    let replaced = Instant::now();
    loop {
        let must_be_new = replaced.elapsed() >= Duration::from_millis(1);
        let response = get().await;
        if must_be_new || is_new(&response) {
            return response;
        }
    }
}
