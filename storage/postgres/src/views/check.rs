//! [`check`]: whether the API could serve each row of the views, or of a sample.

use catalogue_core::storage::StorageError;
use catalogue_core::storage::views::{
    ACCOUNTS, COURSES, CheckedRows, Column, Dialect, MODULES, Owner, Page, REVISIONS, RowCheck, ViewProblem,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Views;
use super::columns::Columns;
use super::rows::view_row;
use super::statements::{MODULE_COLUMNS, page_columns};
use crate::connection::{Connection, Sql};
use crate::error::{cause, code};
use crate::options::quoted;
use crate::rows::get;

/// Fetches the next batch of rows.
const FETCH: Sql = Sql { text: "FETCH 1000 FROM checked", types: &[] };

/// Maximum number of problems of one kind in a report.
const MAX_PROBLEMS: usize = 100;

/// Returns what the API could not serve. Rows are checked only if all columns can be read.
pub(crate) async fn check(views: &Views, rows: CheckedRows) -> Result<Vec<ViewProblem>, StorageError> {
    let connection = views.connection().await?;
    let (columns, mut problems) = Columns::read(&connection, &views.schema).await?;
    if !problems.is_empty() {
        return Ok(problems);
    }
    let (schema, limit) = (format!("{}.", quoted(&views.schema)), rows.limit());
    let dialect = Dialect { schema: &schema, collation: "\"C\"", module_count: "CAST(module_count AS BIGINT)", limit };
    for view in [ACCOUNTS, COURSES, MODULES, REVISIONS] {
        if view == REVISIONS && !columns.has_revisions() {
            continue;
        }
        connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let mut checks = match view {
            COURSES => vec![RowCheck::Slugs],
            MODULES => vec![RowCheck::Numbers],
            REVISIONS => vec![RowCheck::Revisions],
            _ => Vec::new(),
        };
        // This check reads the courses too, so it runs only if no view has failed so far.
        if view == MODULES && columns.has_module_count() && problems.iter().all(|problem| problem.key.is_some()) {
            checks.push(RowCheck::Counts);
            // Locks the views in the order of requests, since a migration that drops them could deadlock with another order.
            connection.run(&format!("SELECT FROM {schema}{COURSES} LIMIT 0")).await?;
        }
        let checked = check_view(&connection, view, &columns, dialect, &checks).await;
        connection.run("ROLLBACK").await?;
        match checked {
            Ok(found) => problems.extend(found),
            // The view fails, such as by a division by zero, or by a function that the role may not call.
            Err(error) if code(&error).is_some_and(|code| ["22", "42"].contains(&&code.code()[..2])) => {
                let cause = cause(&error).unwrap_or_else(|| error.to_string());
                let expected = "make it work for every row of its tables".to_owned();
                problems.push(ViewProblem { view, key: None, problem: format!("it fails: {cause}"), expected });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(problems)
}

async fn check_view(
    connection: &Connection,
    view: &'static str,
    columns: &Columns,
    dialect: Dialect<'_>,
    checks: &[RowCheck],
) -> Result<Vec<ViewProblem>, StorageError> {
    let module_count = if columns.has_module_count() { "CAST(c.module_count AS BIGINT)" } else { "CAST(0 AS BIGINT)" };
    let (read, alias) = match view {
        ACCOUNTS => (format!("CAST(a.id AS TEXT), {}", columns.name()), "a"),
        COURSES => {
            let page = page_columns(module_count);
            (format!("{page}, CAST(c.tagline AS TEXT), CAST(c.access_mode AS TEXT)"), "c")
        }
        MODULES => (MODULE_COLUMNS.to_owned(), "m"),
        _ => ("CAST(account_id AS TEXT), revision".to_owned(), "r"),
    };
    let mut problems = Vec::new();
    let Dialect { schema, limit, .. } = dialect;
    let declare = format!("DECLARE checked NO SCROLL CURSOR FOR SELECT {read} FROM {schema}{view} AS {alias}{limit}");
    connection.run(&declare).await?;
    loop {
        let fetched = connection.query(&FETCH, &[]).await?;
        if fetched.is_empty() || problems.len() >= MAX_PROBLEMS {
            break;
        }
        problems.extend(fetched.iter().filter_map(|row| check_row(view, row).err()).map(|problem| *problem));
    }
    problems.truncate(MAX_PROBLEMS);
    for check in checks {
        for row in query_text(connection, &check.sql(dialect)).await? {
            let [claimed, found] = [get::<i64>(&row, 2)?, get(&row, 3)?];
            problems.push(check.problem(get(&row, 0)?, get(&row, 1)?, claimed, found));
        }
    }
    Ok(problems)
}

/// Returns the first problem of a row, as a request would report it.
fn check_row(view: &'static str, row: &Row) -> Result<(), Box<ViewProblem>> {
    match view {
        ACCOUNTS => view_row(view, row, 0, &[0]).id(Column(0, "id")).map(drop),
        COURSES => {
            let row = view_row(view, row, 0, Page::KEY);
            let account = row.id(Page::ACCOUNT_ID)?;
            row.course(Owner::new(&account))?;
            row.text(Column(8, "tagline"))?;
            row.optional_text(Column(9, "access_mode")).map(drop)
        }
        MODULES => {
            let row = view_row(view, row, 0, &[0, 1, 4]);
            let account = row.id(Column(0, "account_id"))?;
            row.module(Owner::new(&account)).map(drop)
        }
        _ => {
            let row = view_row(view, row, 0, &[0]);
            row.id(Column(0, "account_id"))?;
            row.revision(Column(1, "revision")).map(drop)
        }
    }
}

/// Runs a statement without parameters.
pub(crate) async fn query_text(connection: &Connection, text: &str) -> Result<Vec<Row>, StorageError> {
    const NONE: &[Type] = &[];
    connection.query(&Sql { text, types: NONE }, &[]).await
}
