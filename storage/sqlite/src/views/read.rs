//! Reads courses, modules, accounts and revisions from the views.

use std::ops::ControlFlow;
use std::sync::PoisonError;
use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::storage::views::{
    ACCOUNTS, COURSES, Column, MODULES, Owner, Page, REVISIONS, RowCheck, ViewProblem, ViewRow,
};
use catalogue_core::storage::{
    AtRevision, CourseRow, CourseRows, PageRequest, Position, Revision, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, CourseDetail, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, Rows, params};

use super::ViewedCourses;
use super::revision::file_revision;
use super::row::{invalid_row, view_row};
use super::statements::{FIND_COURSE, FIND_REVISION, INSTANT, IS_MODULE, Pages, Statements};
use super::trust::{self, Basis};
use crate::read::unless_locked;
use crate::readers::{ADMINISTRATION_WAIT, COURSES_WAIT, Reader};
use crate::row_buffer::{self, Columns};
use crate::rows::Micros;

impl ViewedCourses {
    pub(crate) async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let mut is_retry = false;
        self.read_within(COURSES_WAIT, |connection| {
            let is_retry = std::mem::replace(&mut is_retry, true);
            let mut read = || self.list(connection, account.as_str(), page, rows);
            if is_retry { in_one_transaction(connection, read) } else { read() }
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

    /// Returns the account's revision without waiting for a lock.
    pub(crate) fn read_revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let read = |connection: &Reader| {
            // The schema is read before the row, so the row is no older than the schema by which it is interpreted.
            let (schema, basis) = self.basis(connection)?;
            if basis != Basis::Row {
                return Ok(Some((basis, None)));
            }
            let row = find_revision(connection, account.as_str())?;
            Ok(row.map(|row| (basis, Some(trust::at_schema(schema, row)))))
        };
        match self.readers.read_cached(&self.revisions, account, read).map_err(view_error)? {
            Some((Basis::File, _)) => Ok(self.readers.version()?.map(|version| file_revision(version, account))),
            found => Ok(found.and_then(|(_, revision)| revision)),
        }
    }

    /// Returns the schema's version, and what a revision means under it.
    fn basis(&self, connection: &Reader) -> rusqlite::Result<(i64, Basis)> {
        let (file, schema) = (connection.file, trust::schema_version(connection)?);
        let mut last = self.examined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, examined)) = &*last
            && (*known, examined.schema) == (file, schema)
        {
            return Ok((schema, examined.basis));
        }
        let examined = trust::examine(connection)?;
        // `check_revisions` reports the findings of the first examination.
        if let Some((_, before)) = &*last {
            for advice in examined.distrust.iter().filter(|advice| !before.distrust.contains(advice)) {
                tracing::warn!(remedy = advice.fix, "{}: {}", advice.subject, advice.finding);
            }
        }
        let (_, examined) = last.insert((file, examined));
        Ok((examined.schema, examined.basis))
    }

    /// Returns the account `id`, with its owner's name if the view has a valid one.
    pub(crate) fn find_account(&self, id: &AccountId) -> Result<Option<Account>, StorageError> {
        let account = |row: &Row<'_>| {
            let name = view_row(ACCOUNTS, row, &[0]).text(Column(1, "name")).unwrap_or_default().to_owned();
            Ok(Account { id: id.clone(), name, email: String::new() })
        };
        self.read_within(ADMINISTRATION_WAIT, |connection| {
            connection.prepare_cached(self.statements.find_account)?.query_row([id.as_str()], account).optional()
        })
    }

    fn read_within<T>(
        &self,
        wait: Duration,
        read: impl FnMut(&Reader) -> rusqlite::Result<T>,
    ) -> Result<T, StorageError> {
        self.readers.read_within(wait, read).map_err(view_error)
    }

    /// Reads a page. A retry passes no row twice: an attempt that finds the database locked fails before its first row.
    fn list(
        &self,
        connection: &Connection,
        account: &str,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> rusqlite::Result<()> {
        let Statements { pages, buffered_pages, .. } = &self.statements;
        let Pages { first, next } = buffered_pages.as_ref().unwrap_or(pages);
        let count = page.rows();
        let statements = if page.after.is_some() { &next[..] } else { &first[..] };
        // If the first statement returns no rows, the second one returns the whole page.
        for sql in statements {
            let mut statement = connection.prepare_cached(sql)?;
            let found = match &page.after {
                None => statement.query(params![account, count as i64])?,
                Some(after) => statement.query(params![account, count as i64, Micros(after.created_at), after.slug])?,
            };
            let mut push = PushCourses { account, owner: Owner::new(account), slugs: Vec::with_capacity(count), rows };
            if buffered_pages.is_some() {
                push.buffered(found, count)?;
            } else {
                push.unbuffered(found)?;
            }
            if !push.slugs.is_empty() {
                return push.check_unique_slugs();
            }
        }
        Ok(())
    }
}

/// Runs `read` in one transaction. Only its first statement can find the database locked, so no later one makes a retry fail.
fn in_one_transaction(connection: &Connection, read: impl FnOnce() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let outcome = read();
    let committed = connection.prepare_cached("COMMIT")?.execute([]).map(drop);
    outcome.and(committed)
}

/// Passes on the rows of a page, each of which must belong to the owner.
struct PushCourses<'p, 'r> {
    account: &'p str,
    owner: Owner<'p>,
    slugs: Vec<String>,
    rows: &'p mut CourseRows<'r>,
}

impl PushCourses<'_, '_> {
    fn unbuffered(&mut self, mut found: Rows<'_>) -> rusqlite::Result<()> {
        while let Some(row) = found.next()? {
            if self.push(Columns::Current(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn buffered(&mut self, found: Rows<'_>, limit: usize) -> rusqlite::Result<()> {
        row_buffer::collect(found, limit, |mut rows| {
            rows.try_for_each(|row| self.push(Columns::Buffered(row)).map(drop))
        })?
    }

    /// Always inlined: each caller knows the variant of `row`.
    #[inline(always)]
    fn push(&mut self, row: Columns<'_>) -> rusqlite::Result<ControlFlow<()>> {
        let row = ViewRow { view: COURSES, cells: row, key: Page::KEY };
        let (course, created_at) = course(&row, self.owner).map_err(invalid_row)?;
        self.slugs.push(course.slug.to_owned());
        self.rows.try_push(course, || Ok(Position { created_at, slug: course.slug.to_owned() }))
    }

    /// Fails if two courses have the same slug.
    fn check_unique_slugs(mut self) -> rusqlite::Result<()> {
        self.slugs.sort_unstable();
        match self.slugs.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(invalid_row(Box::new(RowCheck::Slugs.problem(self.account, &pair[0], 0, 0)))),
        }
    }
}

/// Returns a row of a page. Fails unless its `created_at` is the instant that the list is ordered by.
pub(super) fn course<'r>(
    row: &ViewRow<Columns<'r>>,
    owner: Owner<'_>,
) -> Result<(CourseRow<'r>, Timestamp), Box<ViewProblem>> {
    let (course, created_at) = row.course(owner)?;
    if row.cells.value(INSTANT) == ValueRef::Integer(created_at.as_microseconds()) {
        return Ok((course, created_at));
    }
    Err(row.problem(format!("`created_at` is {created_at}, which SQLite reads differently"), "the same in UTC"))
}

fn find(connection: &Connection, account: &str, slug: &str) -> rusqlite::Result<Option<CourseDetail>> {
    let owner = Owner::new(account);
    let mut statement = connection.prepare_cached(FIND_COURSE)?;
    let mut rows = statement.query([account, slug])?;
    let mut course = None;
    let mut modules = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get(IS_MODULE)? {
            modules.push(view_row(MODULES, row, &[0, 1, 4]).module(owner).map_err(invalid_row)?);
        } else if course.is_some() {
            return Err(invalid_row(Box::new(RowCheck::Slugs.problem(account, slug, 0, 0))));
        } else {
            course = Some(view_row(COURSES, row, &[0, 1]).detail(owner).map_err(invalid_row)?);
        }
    }
    let Some(mut course) = course else { return Ok(None) };
    modules.sort_by_key(|module| module.number);
    if (1..).zip(&modules).any(|(number, module)| number != module.number) {
        return Err(invalid_row(Box::new(RowCheck::Numbers.problem(account, slug, 0, 0))));
    }
    course.modules = modules;
    Ok(Some(course))
}

fn find_revision(connection: &Connection, account: &str) -> rusqlite::Result<Option<Revision>> {
    let mut statement = connection.prepare_cached(FIND_REVISION)?;
    let mut rows = statement.query([account])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let row = view_row(REVISIONS, row, &[0]);
    row.check_owner(Column(0, "account_id"), Owner::new(account)).map_err(invalid_row)?;
    let revision = row.revision(Column(1, "revision")).map_err(invalid_row)?;
    match rows.next()? {
        None => Ok(Some(revision)),
        Some(_) => Err(invalid_row(Box::new(RowCheck::Revisions.problem(account, "", 0, 0)))),
    }
}

/// Converts the error of a statement over the views. If SQLite cannot prepare it, a view was changed or removed.
fn view_error(error: StorageError) -> StorageError {
    if error.kind() != StorageErrorKind::Other {
        return error;
    }
    let message = "a view is unreadable or lacks a column; run `catalogue views check`";
    StorageError::new(StorageErrorKind::Corrupt, message).with_source(error)
}
