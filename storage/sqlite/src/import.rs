//! [`SqliteImport`]: an import in one transaction.

use catalogue_core::{
    Account, AccountId, Change, Course, Import, StorageError, StorageErrorKind, Timestamp, async_trait, is_slug,
};
use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::connection::empty_wal;
use crate::credentials::{account_exists, unknown_account};
use crate::error::storage_error;
use crate::export::find_whole_course;
use crate::rows::{Micros, time};

/// What this import has put. It stands in a temporary table, so that memory does not grow with the file.
const BEGIN: &str = "
    CREATE TEMP TABLE put_accounts (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TEMP TABLE put_courses (
        account_id TEXT NOT NULL,
        slug       TEXT NOT NULL,
        PRIMARY KEY (account_id, slug)
    ) STRICT, WITHOUT ROWID;
    BEGIN IMMEDIATE;
";

const PRUNE: &str = "
    DELETE FROM courses
    WHERE account_id IN (SELECT id FROM put_accounts)
        AND NOT EXISTS (
            SELECT 1 FROM put_courses AS put WHERE put.account_id = courses.account_id AND put.slug = courses.slug
        )";

/// The transaction ends with [`commit`](Import::commit); closing the connection undoes it.
#[derive(Debug)]
pub(crate) struct SqliteImport {
    connection: Connection,
    /// The account of the course before, which most often is that of the next: known to exist.
    known_account: Option<AccountId>,
}

impl SqliteImport {
    pub(crate) fn begin(connection: Connection) -> std::result::Result<Self, StorageError> {
        connection.execute_batch(BEGIN).map_err(storage_error)?;
        Ok(Self { connection, known_account: None })
    }

    fn is_known(&mut self, account: &AccountId) -> Result<bool> {
        if self.known_account.as_ref() != Some(account) {
            self.known_account = account_exists(&self.connection, account.as_str())?.then(|| account.clone());
        }
        Ok(self.known_account.is_some())
    }

    fn put_account(&self, account: &Account) -> Result<Change> {
        let id = account.id.as_str();
        if !inserted(&self.connection, "INSERT OR IGNORE INTO put_accounts VALUES (?1)", [id])? {
            return Ok(Change::Repeated);
        }
        let values = [id, &account.name, &account.email];
        let add = "INSERT OR IGNORE INTO accounts (id, name, email) VALUES (?1, ?2, ?3)";
        if inserted(&self.connection, add, values)? {
            return Ok(Change::Added);
        }
        let change = "UPDATE accounts SET name = ?2, email = ?3 WHERE id = ?1 AND (name, email) <> (?2, ?3)";
        let changed = inserted(&self.connection, change, values)?;
        Ok(if changed { Change::Changed } else { Change::Unchanged })
    }

    fn put_course(&self, course: &Course) -> Result<Change> {
        let key = [course.account.as_str(), course.slug.as_str()];
        if !inserted(&self.connection, "INSERT OR IGNORE INTO put_courses VALUES (?1, ?2)", key)? {
            return Ok(Change::Repeated);
        }
        let change = match find_whole_course(&self.connection, &course.account, &course.slug)? {
            None => Change::Added,
            Some(known) if known == *course => return Ok(Change::Unchanged),
            Some(_) => {
                let remove = "DELETE FROM courses WHERE account_id = ?1 AND slug = ?2";
                self.connection.prepare_cached(remove)?.execute(key)?;
                Change::Changed
            }
        };
        insert_course(&self.connection, course)?;
        Ok(change)
    }
}

/// Runs a statement and says whether it touched a row.
fn inserted(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<bool> {
    Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
}

/// Modules first: then the course's trigger counts them once, and theirs find nothing to count.
fn insert_course(connection: &Connection, course: &Course) -> Result<()> {
    let (account, slug) = (course.account.as_str(), &course.slug);
    let mut insert_module = connection.prepare_cached(
        "INSERT INTO modules (account_id, course_slug, number, title, summary) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut insert_content = connection.prepare_cached(
        "INSERT INTO module_contents (account_id, course_slug, number, content) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (number, module) in (1_i64..).zip(&course.modules) {
        insert_module.execute(params![account, slug, number, module.title, module.summary])?;
        if !module.content.is_empty() {
            insert_content.execute(params![account, slug, number, module.content])?;
        }
    }
    let mut insert_course = connection.prepare_cached(
        "INSERT INTO courses \
         (account_id, created_at, slug, title, tagline, language, published_at, hidden, access_mode, module_count) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    insert_course.execute(params![
        account,
        Micros(course.created_at),
        slug,
        course.title,
        course.tagline,
        course.language,
        course.published_at.map(Micros),
        course.hidden,
        course.access_mode,
        course.modules.len() as i64,
    ])?;
    Ok(())
}

#[async_trait]
impl Import for SqliteImport {
    async fn put_account(&mut self, account: &Account) -> std::result::Result<Change, StorageError> {
        Self::put_account(self, account).map_err(storage_error)
    }

    async fn creation_time(
        &mut self,
        account: &AccountId,
        slug: &str,
    ) -> std::result::Result<Option<Timestamp>, StorageError> {
        let sql = "SELECT created_at FROM courses WHERE account_id = ?1 AND slug = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(storage_error)?;
        statement.query_row([account.as_str(), slug], |row| time(row, 0)).optional().map_err(storage_error)
    }

    async fn put_course(&mut self, course: &Course) -> std::result::Result<Change, StorageError> {
        if !self.is_known(&course.account).map_err(storage_error)? {
            return Err(unknown_account(&course.account));
        }
        if !is_slug(&course.slug) {
            return Err(StorageError::new(StorageErrorKind::InvalidValue, format!("{:?} is not a slug", course.slug)));
        }
        Self::put_course(self, course).map_err(storage_error)
    }

    async fn prune(&mut self) -> std::result::Result<u64, StorageError> {
        let removed = self.connection.execute(PRUNE, []).map_err(storage_error)?;
        Ok(removed as u64)
    }

    async fn commit(self: Box<Self>) -> std::result::Result<(), StorageError> {
        self.connection.execute_batch("COMMIT").map_err(storage_error)?;
        empty_wal(&self.connection);
        Ok(())
    }
}
