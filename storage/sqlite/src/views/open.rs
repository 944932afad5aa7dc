//! Opens the storage that serves courses from views, and the file of keys that it needs.

use std::path::Path;
use std::sync::{Arc, Mutex};

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::{Connection, ErrorCode, ffi};

use super::check_columns::complete_views;
use super::statements::Statements;
use super::{CACHE_ENTRIES, ViewedCourses, wal_files};
use crate::connection::Database;
use crate::error::storage_error;
use crate::file;
use crate::migration::{KEYS_SCHEMA, Migrated};
use crate::open_error::OpenError;
use crate::readers::{Cache, Readers};
use crate::storage::SqliteStorage;
use crate::wal_index::sibling_path;

impl SqliteStorage {
    /// Opens a storage that reads courses from views in the SQLite file `courses` of another program, and stores credentials
    /// in the file `keys`.
    ///
    /// `courses` is only read. It needs the views `catalogue_accounts`, `catalogue_courses` and `catalogue_modules`;
    /// `catalogue_revisions` is optional. Each read reports invalid rows; [`views`](Self::views) finds them in advance.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, `courses` is not in UTF-8, or a view or column is missing. Also if reading
    /// `courses` would keep its program from writing, or if `keys` is not of the current version or has other tables.
    /// Nothing is changed.
    pub fn open_views(keys: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (keys, views) = (Database::File(keys.as_ref().to_owned()), open_courses(courses.as_ref())?);
        KEYS_SCHEMA.check(&keys).map_err(keys_file_error)?;
        Ok(Self::new(Readers::new(keys, None), Some(views)))
    }

    /// Opens the views alone, with an empty database of keys in memory: for checks before a file of keys exists.
    ///
    /// # Errors
    /// Returns the errors of [`open_views`](Self::open_views) about `courses`.
    pub fn open_only_views(courses: impl AsRef<Path>) -> Result<Self, OpenError> {
        Ok(Self { views: Some(open_courses(courses.as_ref())?), ..Self::in_memory()? })
    }

    /// Creates or migrates the file `keys` for [`open_views`](Self::open_views), all or nothing. Nothing in `courses` changes.
    ///
    /// # Errors
    /// Returns an error if `courses` cannot be read, is not in UTF-8, or could then not be written by its program. Also if `keys`
    /// is of a newer version, has other tables, or is read-only and outdated.
    pub fn migrate_views(keys: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Migrated, OpenError> {
        inspect_courses(courses.as_ref())?;
        KEYS_SCHEMA.migrate(&Database::File(keys.as_ref().to_owned())).map_err(keys_file_error)
    }

    /// Runs [`migrate_views`](Self::migrate_views), then [`open_views`](Self::open_views).
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
    /// Returns the errors of both functions.
    pub fn open_and_migrate_views(keys: impl AsRef<Path>, courses: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::migrate_views(&keys, &courses)?;
        Self::open_views(keys, courses)
    }
}

/// Opens the other program's file, and checks that courses can be served from it.
fn inspect_courses(path: &Path) -> Result<Connection, OpenError> {
    file::check(path)?;
    wal_files::check(path)?;
    let database = Database::HostApplication(path.to_owned());
    let connection = database.open_exporter().map_err(|error| database.failed(error))?;
    let encoding = connection.pragma_query_value(None, "encoding", |row| row.get::<_, String>(0));
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    let encoding = tables.and(encoding).map_err(|error| read_error(&database, error))?;
    if encoding != "UTF-8" {
        let message = format!("unsupported encoding {encoding}; use UTF-8");
        return Err(database.failed(StorageError::new(StorageErrorKind::Other, message)));
    }
    Ok(connection)
}

fn open_courses(path: &Path) -> Result<Arc<ViewedCourses>, OpenError> {
    let (connection, path) = (inspect_courses(path)?, path.to_owned());
    let (_, problems) = complete_views(&connection);
    if !problems.is_empty() {
        return Err(OpenError::Views { path, problems });
    }
    Ok(Arc::new(ViewedCourses {
        statements: Statements::of(&connection),
        readers: Readers::new(Database::HostApplication(path), None),
        revisions: Cache::new(CACHE_ENTRIES),
        examined: Mutex::default(),
    }))
}

/// Converts an error of the file for keys. Another program's database, or one with the catalogue's courses, has other tables.
fn keys_file_error(error: OpenError) -> OpenError {
    match error {
        OpenError::OtherApplication(path) => OpenError::OtherTables(path),
        error => error,
    }
}

fn read_error(database: &Database, error: rusqlite::Error) -> OpenError {
    let path = database.path();
    match error.sqlite_error().map(|error| (error.code, error.extended_code)) {
        Some((ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt, _)) => OpenError::NotADatabase(path),
        // The database file itself could be opened, so the error is that of its `-wal` or `-shm`.
        Some((ErrorCode::CannotOpen, _)) if !sibling_path(&path, "-shm").is_file() => OpenError::WalWithoutIndex(path),
        Some((_, ffi::SQLITE_READONLY_DIRECTORY)) => OpenError::WalWithoutIndex(path),
        _ => wal_files::unreadable_file(&path).unwrap_or_else(|| database.failed(storage_error(error))),
    }
}
