//! Exporting accounts, and courses with module bodies in batches, from one snapshot.

use std::ops::ControlFlow;

use catalogue_core::Course;
use catalogue_core::admin::{Accounts, Record, Visitor};
use catalogue_core::storage::StorageError;
use futures_util::future::try_join_all;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::accounts::{NAMED_ACCOUNTS, PAGE_OF_ALL, Pages, sorted};
use crate::connection::{Connection, Sql};
use crate::rows::get;
use crate::whole_course::{FIND_MODULES, course_header, find_modules};

/// Maximum number of courses in memory.
const BATCH: i64 = 50;

const COURSES: Sql = Sql {
    text: "SELECT * FROM courses WHERE (account_id, slug) > ($1, $2) ORDER BY account_id, slug LIMIT $3",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

const COURSES_OF_ONE: Sql = Sql {
    text: "SELECT * FROM courses WHERE account_id = $1 AND slug > $2 ORDER BY slug LIMIT $3",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

pub(crate) async fn export(
    connection: &Connection,
    accounts: Accounts<'_>,
    visit: &mut Visitor<'_>,
) -> Result<(), StorageError> {
    // One transaction, so that concurrent changes are not half included.
    let mut pages = Pages::begin(connection, accounts, [PAGE_OF_ALL, NAMED_ACCOUNTS]).await?;
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            break;
        }
        for account in page {
            if visit(Record::Account(account)) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
    let lists = match accounts {
        Accounts::All => vec![("", &COURSES)],
        Accounts::Only(ids) => sorted(ids).into_iter().map(|id| (id, &COURSES_OF_ONE)).collect(),
    };
    for (first, sql) in lists {
        // Slugs are not empty, so this position precedes the first course.
        let mut last = (first.to_owned(), String::new());
        loop {
            let rows = connection.query(sql, &[&last.0, &last.1, &BATCH]).await?;
            let Some(end) = rows.last() else { break };
            last = (get(end, "account_id")?, get(end, "slug")?);
            for course in with_modules(connection, &rows).await? {
                if visit(Record::Course(course)) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Reads all modules of the courses. The queries are pipelined.
async fn with_modules(connection: &Connection, rows: &[Row]) -> Result<Vec<Course>, StorageError> {
    connection.prepare(&FIND_MODULES).await?;
    try_join_all(rows.iter().map(|row| whole_course(connection, row))).await
}

async fn whole_course(connection: &Connection, row: &Row) -> Result<Course, StorageError> {
    let mut course = course_header(row)?;
    course.modules = find_modules(connection, course.account.as_str(), &course.slug).await?;
    Ok(course)
}
