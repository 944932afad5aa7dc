//! Opening what serves courses from views, and the tables of ours that it needs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::check_columns::whole_views;
use super::statements::Statements;
use super::{CACHE_ENTRIES, FileRevision, ViewedCourses, wal_files};
use crate::cache::Cache;
use crate::connection::{Database, WAL_SIZE_LIMIT};
use crate::error::storage_error;
use crate::file;
use crate::migration::Migrated;
use crate::open_error::OpenError;
use crate::readers::Readers;
use crate::storage::SqliteStorage;
use crate::wal_index::beside;
use crate::write::WriteTransaction;

/// The migrations of our tables beside views, in order; the first makes version 1.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/views/0001_initial.sql")];

const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// The table that marks a file with the catalogue's tables beside views.
const VERSION_TABLE: &str = "catalogue_schema_version";

impl SqliteStorage {
    /// Opens a storage that reads courses from views in the SQLite file `courses`, which belongs to another program, and keeps
    /// credentials in `ours`.
    ///
    /// `courses` is only read. It has the views `catalogue_accounts`, `catalogue_courses`, `catalogue_modules` and perhaps
    /// `catalogue_revisions`; what their rows lack is told by each read, and by [`views`](Self::views) beforehand. Both may be
    /// one file.
    ///
    /// # Errors
    /// When one of them cannot be read, or reading it would keep its program from writing; when a view or a column is missing,
    /// `courses` is not in UTF-8, or `ours` is not of the current version or has other tables. Nothing is changed.
    pub fn open_views(ours: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (ours, courses) = (ours.as_ref(), courses.as_ref());
        let theirs = inspect_courses(courses)?;
        let path = ours.to_owned();
        match inspect_ours(ours, courses)? {
            found if found < SCHEMA_VERSION => Err(OpenError::OlderSchema { path, found, known: SCHEMA_VERSION }),
            found if found > SCHEMA_VERSION => Err(OpenError::NewerSchema { path, found, known: SCHEMA_VERSION }),
            _ => {
                let (_, faults) = whole_views(&theirs);
                if !faults.is_empty() {
                    return Err(OpenError::Views { path: courses.to_owned(), faults });
                }
                let statements = Statements::of(&theirs);
                let is_one_file = is_same_file(ours, courses);
                let mut ours = Readers::new(Database::File(path), None);
                let mut theirs = Readers::new(Database::Foreign(courses.to_owned()), None);
                if is_one_file {
                    ours.join(&mut theirs);
                }
                let views = ViewedCourses {
                    readers: theirs,
                    statements,
                    revisions: Cache::new(CACHE_ENTRIES),
                    file_revision: FileRevision::default(),
                    examined: Mutex::default(),
                };
                Ok(Self::new(ours, Some(Arc::new(views))))
            }
        }
    }

    /// Makes the tables of ours that [`open_views`](Self::open_views) needs, or brings them up to date, all of them or
    /// nothing; makes the file `ours` where it is missing. Nothing of `courses` changes unless both are one file, and then
    /// it gets these tables alone.
    ///
    /// # Errors
    /// When `courses` cannot be read, or `ours` is of a newer version, has other tables, or is read-only and has to change.
    pub fn migrate_views(ours: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Migrated, OpenError> {
        let (ours, courses) = (ours.as_ref(), courses.as_ref());
        inspect_courses(courses)?;
        let found = match inspect_ours(ours, courses) {
            Err(OpenError::Missing(_)) => 0,
            found => found?,
        };
        if found > SCHEMA_VERSION {
            return Err(OpenError::NewerSchema { path: ours.to_owned(), found, known: SCHEMA_VERSION });
        }
        if found == SCHEMA_VERSION {
            return Ok(Migrated { from: found, to: found });
        }
        file::make_private(ours);
        let database = Database::File(ours.to_owned());
        let connection = database.open_updater()?;
        let is_theirs = is_same_file(ours, courses);
        let from = apply(connection, is_theirs).map_err(|error| database.failed(error))?;
        Ok(Migrated { from, to: SCHEMA_VERSION })
    }

    /// [`migrate_views`](Self::migrate_views), then [`open_views`](Self::open_views).
    ///
    /// ```
    /// use catalogue_core::Catalogue;
    /// use catalogue_sqlite::SqliteStorage;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let [keys, school] = ["catalogue.db", "school.sqlite3"].map(|name| directory.path().join(name));
    /// # rusqlite::Connection::open(&school)?.execute_batch(
    /// #     "CREATE TABLE catalogue_accounts (id);
    /// #      CREATE TABLE catalogue_courses (account_id, slug, title, tagline, language, created_at, published_at, hidden,
    /// #          access_mode);
    /// #      CREATE TABLE catalogue_modules (account_id, course_slug, number, title, summary)",
    /// # )?;
    /// let storage = SqliteStorage::open_and_migrate_views(keys, school)?;
    /// let catalogue = Catalogue::with_api_keys(storage).build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for both.
    pub fn open_and_migrate_views(ours: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::migrate_views(&ours, &courses)?;
        Self::open_views(ours, courses)
    }
}

/// A connection to the other program's file, which can be served from.
fn inspect_courses(path: &Path) -> Result<Connection, OpenError> {
    file::check(path)?;
    wal_files::check(path)?;
    let database = Database::Foreign(path.to_owned());
    let connection = database.open_exporter().map_err(|error| database.failed(error))?;
    let encoding = connection.pragma_query_value(None, "encoding", |row| row.get::<_, String>(0));
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    let encoding = tables.and(encoding).map_err(|error| told(&database, error))?;
    if encoding != "UTF-8" {
        let message = format!("it stores texts as {encoding}; views are read of a database in UTF-8");
        return Err(database.failed(StorageError::new(StorageErrorKind::Other, message)));
    }
    Ok(connection)
}

/// The version of our tables, 0 where there are none yet and they may be made.
fn inspect_ours(ours: &Path, courses: &Path) -> Result<u32, OpenError> {
    file::check(ours)?;
    let database = Database::File(ours.to_owned());
    let connection = database.open_exporter().map_err(|error| database.failed(error))?;
    if has_unreleased_tables(&connection).map_err(|error| told(&database, error))? {
        return Err(OpenError::UnreleasedSchema { path: ours.to_owned(), beside_views: true });
    }
    let may_be_made = is_same_file(ours, courses) || is_empty(&connection).map_err(|error| told(&database, error))?;
    match version_of(&connection).map_err(|error| told(&database, error))? {
        Some(version) => Ok(version),
        None if may_be_made => Ok(0),
        None => Err(OpenError::OtherTables(ours.to_owned())),
    }
}

fn apply(connection: Connection, is_theirs: bool) -> Result<u32, StorageError> {
    if !is_theirs {
        let settings = format!("PRAGMA journal_mode = wal; PRAGMA journal_size_limit = {WAL_SIZE_LIMIT}");
        connection.execute_batch(&settings).map_err(storage_error)?;
    }
    let transaction = WriteTransaction::begin(connection)?;
    // By the version under the lock: another process may have been faster.
    let found = version_of(&transaction).map_err(storage_error)?.unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(migration).map_err(storage_error)?;
    }
    if found < SCHEMA_VERSION {
        let write = || {
            transaction.execute("DELETE FROM catalogue_schema_version", [])?;
            transaction.execute("INSERT INTO catalogue_schema_version (version) VALUES (?1)", [SCHEMA_VERSION])
        };
        write().map_err(storage_error)?;
    }
    transaction.commit()?;
    Ok(found)
}

/// The version of our tables beside views, or `None` where there are none.
fn version_of(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    if !has_table(connection, VERSION_TABLE)? {
        return Ok(None);
    }
    connection.query_row("SELECT max(version) FROM catalogue_schema_version", [], |row| row.get(0))
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
    connection.query_row(sql, [name], |row| row.get(0))
}

/// Whether there are tables of builds from before schema version 1 was made anew.
pub(crate) fn has_unreleased_tables(connection: &Connection) -> rusqlite::Result<bool> {
    has_table(connection, "catalogue_version")
}

/// Whether a file with these tables stands there, so that it can be copied and checked as a database of ours.
pub(crate) fn has_our_tables(database: &Database) -> bool {
    let open = || database.open(OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|connection| version_of(&connection));
    matches!(open(), Ok(Some(_)))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| {
        let database: Database = Database::File(PathBuf::from(path));
        database.file_version().ok().map(|version| version.identity)
    };
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

fn told(database: &Database, error: rusqlite::Error) -> OpenError {
    let path = database.path();
    let is_theirs = matches!(database, Database::Foreign(_));
    match error.sqlite_error().map(|error| (error.code, error.extended_code)) {
        Some((ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _)) => OpenError::NotADatabase(path),
        // The file itself is open by now.
        Some((ErrorCode::CannotOpen, _)) if !beside(&path, "-shm").is_file() => OpenError::WalWithoutIndex(path),
        Some((_, ffi::SQLITE_READONLY_DIRECTORY)) if is_theirs => OpenError::WalWithoutIndex(path),
        _ => wal_files::out_of_reach(&path).unwrap_or_else(|| database.failed(storage_error(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::SHARED;

    /// A statement is for both.
    #[test]
    fn shared_tables_have_the_same_columns_in_both_layouts() {
        let prefixed = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|migration| prefixed.execute_batch(migration).unwrap());
        let storage = SqliteStorage::in_memory().unwrap();
        let plain = storage.readers.database().open_exporter().unwrap();
        let columns = |connection: &Connection, table: &str| -> Vec<(String, String, bool, u32)> {
            let sql = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY name";
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
            rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
        };
        for table in SHARED {
            let expected = columns(&plain, table);
            assert!(!expected.is_empty(), "{table}");
            assert_eq!(columns(&prefixed, &format!("catalogue_{table}")), expected, "{table}");
        }
    }
}
