//! [`CourseViews`]: problems of views, columns and rows that the API could not serve, and advice.

use catalogue_core::admin::Account;
use catalogue_core::storage::StorageError;
use catalogue_core::storage::views::{
    ACCOUNTS, COURSES, CheckedRows, Column, CourseViews, Dialect, MODULES, Owner, Page, REVISIONS, RowCheck,
    ViewAdvice, ViewProblem, ViewRow,
};
use catalogue_core::{AccountId, async_trait};
use rusqlite::Connection;

use super::check_columns::complete_views;
use super::row::view_row;
use super::statements::{course_columns, has_column};
use super::{ViewedCourses, plans, trust};
use crate::error::storage_error;
use crate::readers::ADMINISTRATION_WAIT;
use crate::row_buffer::Columns;

/// Maximum number of invalid rows of one view in a report.
const MAX_PROBLEMS: usize = 100;

#[async_trait]
impl CourseViews for ViewedCourses {
    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>, StorageError> {
        Self::find_account(self, id)
    }

    async fn check_views(&self, rows: CheckedRows) -> Result<Vec<ViewProblem>, StorageError> {
        let connection = self.readers.database().open_exporter()?;
        check(&connection, rows).map_err(storage_error)
    }

    async fn check_columns(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(if self.statements.has_module_count { Vec::new() } else { vec![ViewAdvice::module_count()] })
    }

    async fn check_revisions(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(self.readers.read_within(ADMINISTRATION_WAIT, |connection| trust::examine(connection))?.distrust)
    }

    async fn check_plans(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        let connection = self.readers.database().open_exporter()?;
        plans::check(&connection, &self.statements).map_err(storage_error)
    }

    /// Returns none: SQLite has no roles, and the file is opened read-only.
    async fn check_rights(&self) -> Result<Vec<ViewAdvice>, StorageError> {
        Ok(Vec::new())
    }
}

fn check(connection: &Connection, rows: CheckedRows) -> rusqlite::Result<Vec<ViewProblem>> {
    let connection = &connection.unchecked_transaction()?;
    let limit = rows.limit();
    let (complete, mut problems) = complete_views(connection);
    let has_module_count = has_column(connection, "module_count FROM catalogue_courses");
    let ids = if has_column(connection, "name FROM catalogue_accounts") { "id, name" } else { "id, NULL" };
    let courses = course_columns(if has_module_count { "module_count" } else { "0" }) + ", tagline, access_mode";
    for view in &complete {
        let (columns, key, check): (_, &'static [usize], Check) = match *view {
            ACCOUNTS => (ids, &[0], |row| row.id(Column(0, "id")).and(row.optional_text(Column(1, "name"))).map(drop)),
            COURSES => (&*courses, Page::KEY, check_course),
            MODULES => ("account_id, course_slug, title, summary, number", &[0, 1, 4], check_module),
            _ => ("account_id, revision", &[0], check_revision),
        };
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM {view} AS c{limit}"))?;
        let (mut rows, mut remaining) = (statement.query([])?, MAX_PROBLEMS);
        while let Some(row) = rows.next()?
            && remaining > 0
        {
            if let Err(problem) = check(&view_row(view, row, key)) {
                problems.push(*problem);
                remaining -= 1;
            }
        }
        check_unmatched_integers(connection, view, limit, &mut problems)?;
    }
    let module_count = "CASE typeof(module_count) WHEN 'integer' THEN module_count END";
    let dialect = Dialect { schema: "", collation: "BINARY", module_count, limit };
    for (check, views) in [
        (RowCheck::Counts, &[COURSES, MODULES][..]),
        (RowCheck::Slugs, &[COURSES]),
        (RowCheck::Numbers, &[MODULES]),
        (RowCheck::Revisions, &[REVISIONS]),
    ] {
        let is_possible = check != RowCheck::Counts || has_module_count;
        if !is_possible || !views.iter().all(|view| complete.contains(view)) {
            continue;
        }
        let mut statement = connection.prepare(&check.sql(dialect))?;
        let mut found = statement.query_map([], |row| {
            let (account, slug): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(check.problem(&account, &slug, row.get(2)?, row.get(3)?))
        })?;
        found.try_for_each(|problem| problem.map(|problem| problems.push(problem)))?;
    }
    Ok(problems)
}

type Check = fn(&ViewRow<Columns<'_>>) -> Result<(), Box<ViewProblem>>;

/// Checks a course as a request reads it, with the columns of a detail after those of a page.
fn check_course(row: &ViewRow<Columns<'_>>) -> Result<(), Box<ViewProblem>> {
    let account = row.id(Page::ACCOUNT_ID)?;
    super::read::course(row, Owner::new(&account))?;
    row.text(Column(9, "tagline"))?;
    row.optional_text(Column(10, "access_mode"))?;
    check_not_seconds(row)
}

fn check_module(row: &ViewRow<Columns<'_>>) -> Result<(), Box<ViewProblem>> {
    let account = row.id(Column(0, "account_id"))?;
    row.slug(Column(1, "course_slug"))?;
    row.module(Owner::new(&account)).map(drop)
}

fn check_revision(row: &ViewRow<Columns<'_>>) -> Result<(), Box<ViewProblem>> {
    row.id(Column(0, "account_id"))?;
    row.revision(Column(1, "revision")).map(drop)
}

/// Fails for the numbers of seconds or milliseconds since 2001. As microseconds, they would be in the first years after 1970.
fn check_not_seconds(row: &ViewRow<Columns<'_>>) -> Result<(), Box<ViewProblem>> {
    use rusqlite::types::ValueRef;

    let ValueRef::Integer(number @ 1_000_000_000..100_000_000_000_000) = row.cells.value(Page::CREATED_AT.0) else {
        return Ok(());
    };
    let problem = format!("`created_at` is {number}, which in microseconds is {}", row.time(Page::CREATED_AT)?);
    Err(row.problem(problem, "microseconds: multiply seconds by 1000000, milliseconds by 1000"))
}

/// Reports the first integer that no request finds: in a column without a type, or with several, it never equals a text.
fn check_unmatched_integers(
    connection: &Connection,
    view: &'static str,
    limit: &str,
    problems: &mut Vec<ViewProblem>,
) -> rusqlite::Result<()> {
    let column = if view == ACCOUNTS { "id" } else { "account_id" };
    let unmatched = format!(
        "SELECT {column} FROM (SELECT {column} FROM {view}{limit}) \
         WHERE typeof({column}) = 'integer' AND NOT {column} = CAST({column} AS TEXT) LIMIT 1"
    );
    let mut statement = connection.prepare(&unmatched)?;
    let mut rows = statement.query([])?;
    if let Some(row) = rows.next()? {
        let problem = format!("`{column}` is an integer in a column of another type, so requests do not find it");
        problems.push(*view_row(view, row, &[0]).problem(problem, "CAST(… AS TEXT)"));
    }
    Ok(())
}
