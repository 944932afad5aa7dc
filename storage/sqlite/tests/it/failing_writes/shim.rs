//! A file system whose n-th write fails, preloaded into a child process, and the contents of a database afterward.

use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

const SOURCE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../storage/sqlite/tests/it/failing_writes/failing_file.c");

/// Endings of the names of a database's files.
pub(crate) const DATABASE: &str = ".db .db-wal .db-journal";

/// Error numbers of Linux.
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// Which write fails, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    /// Number of the call that fails, from 1.
    pub(crate) at: u32,
    pub(crate) and_all_later: bool,
    /// The error number; if negative, that of a signal that is raised instead.
    pub(crate) error: i32,
}

impl Failure {
    /// A disk that is full once.
    pub(crate) const FULL: Self = Self { at: 1, and_all_later: false, error: ENOSPC };
    /// A disk that fails permanently.
    pub(crate) const BROKEN: Self = Self { at: 1, and_all_later: true, error: EIO };
}

/// The compiled library.
pub(crate) struct Shim {
    library: PathBuf,
    _directory: TempDir,
}

impl Shim {
    /// Returns the library of this process, or `None` if it cannot be compiled and is not required.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: LazyLock<Option<Shim>> = LazyLock::new(|| {
            let reason = match Shim::compile() {
                Ok(shim) => return Some(shim),
                Err(reason) => reason,
            };
            let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name.trim() == "cc"), "failing writes are required: {reason}");
            // Bypass the capture of the test's own output, so that the message is visible.
            stderr().write_all(format!("skipped: failing writes: {reason}\n").as_bytes()).unwrap();
            None
        });
        SHARED.as_ref()
    }

    fn compile() -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("they are made by LD_PRELOAD of Linux".to_owned());
        }
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let library = directory.path().join("failing_file.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library).args([SOURCE, "-ldl"]);
        let compiled = compiler.output().map_err(|error| format!("cc cannot be run: {error}"))?;
        if !compiled.status.success() {
            return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
        }
        Ok(Self { library, _directory: directory })
    }

    /// Makes the write number `failure.at` of `command` to files with `endings` fail. The failure creates the file `mark`.
    pub(crate) fn preload(&self, command: &mut Command, failure: Failure, endings: &str, mark: &Path) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAIL_AT", failure.at.to_string())
            .env("FAIL_AFTER", if failure.and_all_later { "1" } else { "0" })
            .env("FAIL_WITH", failure.error.to_string())
            .env("FAIL_NAMES", endings)
            .env("FAIL_MARK", mark);
    }
}

/// Returns all rows of all tables, the schema, and its version.
pub(crate) fn contents(path: &Path) -> Vec<Vec<Value>> {
    let connection = Connection::open(path).unwrap();
    let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let mut rows = Vec::new();
    for table in tables.chain(["sqlite_schema".to_owned(), "pragma_user_version".to_owned()]) {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        rows.extend(found.unwrap().map(Result::unwrap));
    }
    rows
}
