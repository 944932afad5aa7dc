//! A file system whose n-th write fails, put before a child process, and what is in a database after that.

use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

const SOURCE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../storage/sqlite/tests/it/failing_writes/failing_file.c");

/// How the names of a database's files end.
pub(crate) const DATABASE: &str = ".db .db-wal .db-journal";

/// The numbers of Linux.
const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// Which write fails, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// From 1.
    pub(crate) at: u32,
    pub(crate) and_all_later: bool,
    /// Its number; where it is negative, that of a signal which comes instead.
    pub(crate) error: i32,
}

impl Fault {
    /// A disk that is full for once.
    pub(crate) const FULL: Self = Self { at: 1, and_all_later: false, error: ENOSPC };
    /// A disk that has failed for good.
    pub(crate) const BROKEN: Self = Self { at: 1, and_all_later: true, error: EIO };
}

/// The compiled library.
pub(crate) struct Shim {
    library: PathBuf,
    _directory: TempDir,
}

impl Shim {
    /// The one of this process; `None` where it cannot be and is not required.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: LazyLock<Option<Shim>> = LazyLock::new(|| {
            let reason = match Shim::compile() {
                Ok(shim) => return Some(shim),
                Err(reason) => reason,
            };
            let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name.trim() == "cc"), "failing writes are required: {reason}");
            // Past the capture of the test's own output, so that it is seen.
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

    /// Lets that write of the command to a file with one of these endings fail; `mark` is there after it has.
    pub(crate) fn put_before(&self, command: &mut Command, fault: Fault, endings: &str, mark: &Path) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAIL_AT", fault.at.to_string())
            .env("FAIL_AFTER", if fault.and_all_later { "1" } else { "0" })
            .env("FAIL_WITH", fault.error.to_string())
            .env("FAIL_NAMES", endings)
            .env("FAIL_MARK", mark);
    }
}

/// All rows of all tables, and the schema.
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
