//! [`SqliteImport`]: an import in one transaction.

use catalogue_core::admin::{Account, Change, Import};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp, async_trait, is_slug};
use rusqlite::{Connection, OptionalExtension, params};

use crate::credentials::{account_exists, unknown_account};
use crate::error::storage_error;
use crate::export::find_whole_course;
use crate::imported_keys::ImportedKeys;
use crate::rows::{Micros, time};
use crate::write::WriteTransaction;

/// An import that ends with [`commit`](Import::commit); dropping it rolls it back.
#[derive(Debug)]
pub(crate) struct SqliteImport {
    transaction: WriteTransaction,
    imported: ImportedKeys,
    /// The account of the previous course, known to exist; the next course usually has the same one.
    known_account: Option<AccountId>,
}

impl SqliteImport {
    pub(crate) fn begin(transaction: WriteTransaction) -> Result<Self, StorageError> {
        Ok(Self { transaction, imported: ImportedKeys::new().map_err(storage_error)?, known_account: None })
    }

    fn is_known(&mut self, account: &AccountId) -> rusqlite::Result<bool> {
        if self.known_account.as_ref() != Some(account) {
            self.known_account = account_exists(&self.transaction, account.as_str())?.then(|| account.clone());
        }
        Ok(self.known_account.is_some())
    }

    fn put_account(&self, account: &Account) -> rusqlite::Result<Change> {
        let id = account.id.as_str();
        if !self.imported.insert_account(id)? {
            return Ok(Change::Repeated);
        }
        let values = [id, &account.name, &account.email];
        let add = "INSERT OR IGNORE INTO accounts (id, name, email) VALUES (?1, ?2, ?3)";
        if execute_changed(&self.transaction, add, values)? {
            return Ok(Change::Added);
        }
        let change = "UPDATE accounts SET name = ?2, email = ?3 WHERE id = ?1 AND (name, email) <> (?2, ?3)";
        let changed = execute_changed(&self.transaction, change, values)?;
        Ok(if changed { Change::Changed } else { Change::Unchanged })
    }

    fn put_course(&self, course: &Course) -> rusqlite::Result<Change> {
        let key = [course.account.as_str(), course.slug.as_str()];
        if !self.imported.insert_course(key)? {
            return Ok(Change::Repeated);
        }
        let change = match find_whole_course(&self.transaction, &course.account, &course.slug)? {
            None => Change::Added,
            Some(known) if known == *course => return Ok(Change::Unchanged),
            Some(_) => {
                self.remove(key)?;
                Change::Changed
            }
        };
        insert_course(&self.transaction, course)?;
        Ok(change)
    }

    fn remove(&self, key: [&str; 2]) -> rusqlite::Result<bool> {
        execute_changed(&self.transaction, "DELETE FROM courses WHERE account_id = ?1 AND slug = ?2", key)
    }

    /// Returns the slugs of the courses of `account` that the import has not put.
    fn courses_not_put(&self, account: &str) -> rusqlite::Result<Vec<String>> {
        let mut courses = self.transaction.prepare_cached("SELECT slug FROM courses WHERE account_id = ?1")?;
        let mut rows = courses.query([account])?;
        let mut courses_not_put = Vec::new();
        while let Some(row) = rows.next()? {
            let slug = row.get_ref(0)?.as_str()?;
            if !self.imported.has_course([account, slug])? {
                courses_not_put.push(slug.to_owned());
            }
        }
        Ok(courses_not_put)
    }

    fn prune(&self) -> rusqlite::Result<Vec<(AccountId, String)>> {
        let mut removed = Vec::new();
        self.imported.for_each_account(|account| {
            let id = AccountId::new(account);
            for slug in self.courses_not_put(account)? {
                self.remove([account, &slug])?;
                removed.push((id.clone(), slug));
            }
            Ok(())
        })?;
        Ok(removed)
    }
}

/// Runs a statement. Returns whether it changed a row.
pub(crate) fn execute_changed(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
}

/// Inserts a course after its modules, whose triggers then find no course to update. Its own trigger counts them once.
fn insert_course(connection: &Connection, course: &Course) -> rusqlite::Result<()> {
    let Course { account, slug, title, tagline, language, created_at, published_at, hidden, access_mode, modules } =
        course;
    let account = account.as_str();
    let mut insert_module = connection.prepare_cached(
        "INSERT INTO modules (account_id, course_slug, number, title, summary) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut insert_content = connection.prepare_cached(
        "INSERT INTO module_contents (account_id, course_slug, number, content) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (number, module) in (1_i64..).zip(modules) {
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
        Micros(*created_at),
        slug,
        title,
        tagline,
        language,
        published_at.map(Micros),
        hidden,
        access_mode,
        modules.len() as i64,
    ])?;
    Ok(())
}

#[async_trait]
impl Import for SqliteImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        Self::put_account(self, account).map_err(storage_error)
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        let sql = "SELECT created_at FROM courses WHERE account_id = ?1 AND slug = ?2";
        let mut statement = self.transaction.prepare_cached(sql).map_err(storage_error)?;
        statement.query_row([account.as_str(), slug], |row| time(row, 0)).optional().map_err(storage_error)
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        if !self.is_known(&course.account).map_err(storage_error)? {
            return Err(unknown_account(&course.account));
        }
        if !is_slug(&course.slug) {
            return Err(StorageError::new(StorageErrorKind::InvalidValue, format!("invalid slug {:?}", course.slug)));
        }
        Self::put_course(self, course).map_err(storage_error)
    }

    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError> {
        Self::prune(self).map_err(storage_error)
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        self.transaction.commit()
    }
}
