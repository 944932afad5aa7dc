//! Whole courses, module bodies included, as imports compare them and exports write them.

use catalogue_core::storage::StorageError;
use catalogue_core::{Course, CourseModule};
use futures_util::future::try_join;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::rows::{account_id, get, optional_text, optional_time, owned_text, time};

pub(crate) const FIND_COURSE: Sql =
    Sql { text: "SELECT * FROM courses WHERE account_id = $1 AND slug = $2", types: &[Type::TEXT, Type::TEXT] };

/// Selects by equality, which the planner applies to `module_contents` too; with a range, it would read all bodies.
pub(crate) const FIND_MODULES: Sql = Sql {
    text: "SELECT m.title, m.summary, coalesce(b.content, '') AS content FROM modules AS m \
           LEFT JOIN module_contents AS b \
           ON b.account_id = m.account_id AND b.course_slug = m.course_slug AND b.number = m.number \
           WHERE m.account_id = $1 AND m.course_slug = $2 ORDER BY m.number",
    types: &[Type::TEXT, Type::TEXT],
};

/// Returns a course with its modules and their bodies, from two pipelined queries.
pub(crate) async fn find_whole_course(
    connection: &Connection,
    account: &str,
    slug: &str,
) -> Result<Option<Course>, StorageError> {
    let values: Values<'_> = &[&account, &slug];
    let queries = try_join(connection.query(&FIND_COURSE, values), find_modules(connection, account, slug));
    let (found, modules) = queries.await?;
    let Some(row) = found.first() else { return Ok(None) };
    Ok(Some(Course { modules, ..course_header(row)? }))
}

/// Returns the modules of a course, with their bodies.
pub(crate) async fn find_modules(
    connection: &Connection,
    account: &str,
    slug: &str,
) -> Result<Vec<CourseModule>, StorageError> {
    connection.query(&FIND_MODULES, &[&account, &slug]).await?.iter().map(course_module).collect()
}

/// Converts the columns of a course, without its modules.
pub(crate) fn course_header(row: &Row) -> Result<Course, StorageError> {
    Ok(Course {
        account: account_id(row, "account_id")?,
        slug: get(row, "slug")?,
        title: owned_text(row, "title")?,
        tagline: owned_text(row, "tagline")?,
        language: owned_text(row, "language")?,
        created_at: time(row, "created_at")?,
        published_at: optional_time(row, "published_at")?,
        hidden: get(row, "hidden")?,
        access_mode: optional_text(row, "access_mode")?,
        modules: Vec::new(),
    })
}

/// Converts a row to a module with its body.
fn course_module(row: &Row) -> Result<CourseModule, StorageError> {
    Ok(CourseModule {
        title: owned_text(row, "title")?,
        summary: owned_text(row, "summary")?,
        content: owned_text(row, "content")?,
    })
}
