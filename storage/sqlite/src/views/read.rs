//! Reading courses from the views.

use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::time::Duration;

use catalogue_core::storage::{AtRevision, CourseRows, PageRequest, Revision, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, CourseDetail, Module};
use rusqlite::{Connection, Rows, params};

use super::ViewedCourses;
use super::revision::of_file;
use super::row::{BadRow, ViewRow};
use super::sketches::Sketches;
use super::statements::{FIND_ACCOUNT, FIND_COURSE, FIND_REVISION, IS_TWICE, Pages, Statements};
use super::trust::{self, Basis};
use crate::kept_rows::{self, Columns};
use crate::read::unless_locked;
use crate::readers::{ADMINISTRATION_WAIT, COURSES_WAIT, Reader};
use crate::rows::Micros;

pub(super) const COURSES: &str = "catalogue_courses";
pub(super) const MODULES: &str = "catalogue_modules";
pub(super) const ACCOUNTS: &str = "catalogue_accounts";
pub(super) const REVISIONS: &str = "catalogue_revisions";

/// What is wrong where a slug is there twice, and what would be right.
pub(super) const TWICE: &str = "the account has this slug twice";
pub(super) const ONCE: &str = "one course a slug";

impl ViewedCourses {
    pub(crate) async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let mut is_again = false;
        self.read_within(COURSES_WAIT, |connection| {
            let is_again = std::mem::replace(&mut is_again, true);
            let mut read = || self.list(connection, account.as_str(), page, rows);
            if is_again { in_one_transaction(connection, read) } else { read() }
        })?;
        unless_locked(self.read_revision(account))
    }

    pub(crate) async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let value = self.read_within(COURSES_WAIT, |connection| find(connection, account.as_str(), slug))?;
        Ok(AtRevision { value, revision: unless_locked(self.read_revision(account))? })
    }

    pub(crate) async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.readers.retry_while_locked(COURSES_WAIT, || self.read_revision(account))
    }

    /// The account's revision; it waits for no lock.
    pub(crate) fn read_revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let read = |connection: &Reader| {
            // Looked at before the row: what the row stands for is then no older than the schema that it is under.
            let (schema, basis) = self.basis(connection)?;
            if basis != Basis::Row {
                return Ok(Some((basis, None)));
            }
            let row = find_revision(connection, account.as_str())?;
            Ok(row.map(|row| (basis, Some(trust::under(schema, row)))))
        };
        match self.readers.read_cached(&self.revisions, account, read).map_err(as_views)? {
            Some((Basis::File, _)) => Ok(self.readers.version()?.map(|version| of_file(version, account))),
            found => Ok(found.and_then(|(_, revision)| revision)),
        }
    }

    /// The version of the schema now, and what revisions stand for under it.
    fn basis(&self, connection: &Reader) -> rusqlite::Result<(i64, Basis)> {
        let (file, schema) = (connection.file, trust::schema_version(connection)?);
        let mut last = self.examined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, examined)) = &*last
            && (*known, examined.schema) == (file, schema)
        {
            return Ok((schema, examined.basis));
        }
        let examined = trust::examine(connection)?;
        // `check_revisions` reports what the first one has found.
        if let Some((_, before)) = &*last {
            for advice in examined.distrust.iter().filter(|advice| !before.distrust.contains(advice)) {
                tracing::warn!(remedy = advice.remedy, "{}: {}", advice.about, advice.what);
            }
        }
        let (_, examined) = last.insert((file, examined));
        Ok((examined.schema, examined.basis))
    }

    /// Whether the views name that account.
    pub(crate) fn has_account(&self, account: &AccountId) -> Result<bool, StorageError> {
        self.read_within(ADMINISTRATION_WAIT, |connection| {
            let mut statement = connection.prepare_cached(FIND_ACCOUNT)?;
            let mut rows = statement.query([account.as_str()])?;
            let Some(row) = rows.next()? else { return Ok(false) };
            ViewRow { view: ACCOUNTS, row: row.into(), key: &[0] }.same(0, "id", account.as_str())?;
            Ok(true)
        })
    }

    fn read_within<T>(
        &self,
        wait: Duration,
        read: impl FnMut(&Reader) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        self.readers.read_within(wait, read).map_err(as_views)
    }

    /// Hands over no row twice: an attempt that finds the database locked does so before its first row.
    fn list(
        &self,
        connection: &Connection,
        account: &str,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> rusqlite::Result<()> {
        let Statements { pages, kept_pages, .. } = &self.statements;
        let Pages { first, next } = kept_pages.as_ref().unwrap_or(pages);
        let count = page.rows();
        let statements = if page.after.is_some() { &next[..] } else { &first[..] };
        // The second one answers alone.
        for sql in statements {
            let mut statement = connection.prepare_cached(sql)?;
            let found = match &page.after {
                None => statement.query(params![account, count as i64])?,
                Some(after) => statement.query(params![account, count as i64, Micros(after.created_at), after.slug])?,
            };
            let mut push = PushCourses { connection, account, sketches: Sketches::default(), rows };
            if kept_pages.is_some() {
                push.kept(found, count)?;
            } else {
                push.all(found)?;
            }
            if !push.sketches.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// None of the statements meets a lock but the first. So a page that met one meets no further lock once it has begun again.
fn in_one_transaction(connection: &Connection, read: impl FnOnce() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let outcome = read();
    let ended = connection.prepare_cached("COMMIT")?.execute([]).map(drop);
    outcome.and(ended)
}

/// Hands over the rows of a page, each of which must be of `account`.
struct PushCourses<'p, 'r> {
    connection: &'p Connection,
    account: &'p str,
    sketches: Sketches,
    rows: &'p mut CourseRows<'r>,
}

impl PushCourses<'_, '_> {
    fn all(&mut self, mut found: Rows<'_>) -> rusqlite::Result<()> {
        while let Some(row) = found.next()? {
            if self.push(Columns::Read(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn kept(&mut self, found: Rows<'_>, most: usize) -> rusqlite::Result<()> {
        kept_rows::rows(found, most, |mut rows| rows.try_for_each(|row| self.push(Columns::Kept(row)).map(drop)))?
    }

    /// Always inlined: of each caller it is known where its rows are.
    #[inline(always)]
    fn push(&mut self, row: Columns<'_>) -> rusqlite::Result<ControlFlow<()>> {
        let row = ViewRow { view: COURSES, row, key: &[8, 6] };
        let course = row.course(self.account)?;
        if !self.sketches.insert(course.slug) && is_twice(self.connection, self.account, course.slug)? {
            return Err(row.bad(TWICE, ONCE).into());
        }
        Ok(self.rows.try_push(course, || row.position())?)
    }
}

fn is_twice(connection: &Connection, account: &str, slug: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached(IS_TWICE)?.query_row([account, slug], |row| row.get(0))
}

fn find(connection: &Connection, account: &str, slug: &str) -> rusqlite::Result<Option<CourseDetail>> {
    let mut statement = connection.prepare_cached(FIND_COURSE)?;
    let mut rows = statement.query([account, slug])?;
    let mut course = None;
    let mut modules = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get(0)? {
            modules.push(module(&ViewRow { view: MODULES, row: row.into(), key: &[1, 2, 5] }, account, slug)?);
        } else {
            let row = ViewRow { view: COURSES, row: row.into(), key: &[1, 2] };
            if course.is_some() {
                return Err(row.bad(TWICE, ONCE).into());
            }
            course = Some(detail(&row, account, slug)?);
        }
    }
    let Some(mut course) = course else { return Ok(None) };
    modules.sort_by_key(|module| module.number);
    if let Some((wanted, module)) = (1..).zip(&modules).find(|(wanted, module)| *wanted != module.number) {
        let what = format!("number {wanted} of its modules is missing, or one is there twice");
        let wanted = "modules numbered from 1 without a gap".to_owned();
        let key = format!("{account}, {slug}, {}", module.number);
        return Err(Box::new(BadRow { view: MODULES, key, what, wanted }).into());
    }
    course.modules = modules;
    Ok(Some(course))
}

fn detail(row: &ViewRow<'_>, account: &str, slug: &str) -> rusqlite::Result<CourseDetail> {
    row.same(1, "account_id", account)?;
    row.same(2, "slug", slug)?;
    Ok(CourseDetail {
        slug: row.slug(2, "slug")?.to_owned(),
        title: row.text(3, "title")?.to_owned(),
        tagline: row.text(4, "tagline")?.to_owned(),
        language: row.text(5, "language")?.to_owned(),
        published_at: row.optional_time(6, "published_at")?,
        hidden: row.flag(7, "hidden")?,
        access_mode: row.optional_text(8, "access_mode")?.map(str::to_owned),
        modules: Vec::new(),
    })
}

fn module(row: &ViewRow<'_>, account: &str, slug: &str) -> rusqlite::Result<Module> {
    row.same(1, "account_id", account)?;
    row.same(2, "course_slug", slug)?;
    Ok(Module {
        number: row.count(5, "number", 1)?,
        title: row.text(3, "title")?.to_owned(),
        summary: row.text(4, "summary")?.to_owned(),
    })
}

fn find_revision(connection: &Connection, account: &str) -> rusqlite::Result<Option<Revision>> {
    let mut statement = connection.prepare_cached(FIND_REVISION)?;
    let mut rows = statement.query([account])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let row = ViewRow { view: REVISIONS, row: row.into(), key: &[0] };
    row.same(0, "account_id", account)?;
    let revision = row.revision(1)?;
    if rows.next()?.is_none() {
        return Ok(Some(revision));
    }
    let (what, wanted) = ("the account has two revisions".to_owned(), "one row an account".to_owned());
    Err(Box::new(BadRow { view: REVISIONS, key: account.to_owned(), what, wanted }).into())
}

/// The error of a statement over the views. What SQLite does not understand is a view that has changed or is missing.
fn as_views(error: StorageError) -> StorageError {
    if error.kind() != StorageErrorKind::Other {
        return error;
    }
    let message = "a view cannot be read, or lacks a column; `catalogue views check` says which";
    StorageError::new(StorageErrorKind::Corrupt, message).with_source(error)
}
