//! Exports accounts, then courses with module bodies, of one state and one record at a time.

use catalogue_core::admin::{Accounts, Record, Visitor};
use catalogue_core::{AccountId, Course, CourseModule};
use rusqlite::{Connection, Row};

use crate::accounts::{account, visit_rows};
use crate::columns::columns;
use crate::rows::{account_id, optional_time, time};

columns!(listed, account_columns: id, name, email);
columns!(header, header_columns: account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode);
columns!(module, module_columns: title, summary, content = "coalesce(content, '')");

pub(crate) fn export(
    connection: &mut Connection,
    accounts: Accounts<'_>,
    visit: &mut Visitor<'_>,
) -> rusqlite::Result<()> {
    // One transaction, so that concurrent writes are not exported in part.
    let transaction = connection.transaction()?;
    let account = |row: &Row<'_>| account(row, [listed::id, listed::name, listed::email]).map(Record::Account);
    let course = |row: &Row<'_>| with_modules(&transaction, course_header(row)?).map(Record::Course);
    let all_accounts = concat!("SELECT ", account_columns!(), " FROM accounts ORDER BY id");
    let one_account = concat!("SELECT ", account_columns!(), " FROM accounts WHERE id = ?1");
    let all_courses = concat!("SELECT ", header_columns!(), " FROM courses ORDER BY account_id, slug");
    let of_account = concat!("SELECT ", header_columns!(), " FROM courses WHERE account_id = ?1 ORDER BY slug");
    if visit_rows(&transaction, [all_accounts, one_account], &[], &accounts, account, visit)?.is_continue() {
        let _ = visit_rows(&transaction, [all_courses, of_account], &[], &accounts, course, visit)?;
    }
    Ok(())
}

/// Returns one course with its modules and their bodies.
pub(crate) fn find_whole_course(
    connection: &Connection,
    account: &AccountId,
    slug: &str,
) -> rusqlite::Result<Option<Course>> {
    let sql = concat!("SELECT ", header_columns!(), " FROM courses WHERE account_id = ?1 AND slug = ?2");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([account.as_str(), slug])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    with_modules(connection, course_header(row)?).map(Some)
}

fn course_header(row: &Row<'_>) -> rusqlite::Result<Course> {
    Ok(Course {
        account: account_id(row, header::account_id)?,
        slug: row.get(header::slug)?,
        title: row.get(header::title)?,
        tagline: row.get(header::tagline)?,
        language: row.get(header::language)?,
        created_at: time(row, header::created_at)?,
        published_at: optional_time(row, header::published_at)?,
        hidden: row.get(header::hidden)?,
        access_mode: row.get(header::access_mode)?,
        modules: Vec::new(),
    })
}

fn with_modules(connection: &Connection, mut course: Course) -> rusqlite::Result<Course> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        module_columns!(),
        " FROM modules AS m LEFT JOIN module_contents AS c USING (account_id, course_slug, number) \
         WHERE m.account_id = ?1 AND m.course_slug = ?2 ORDER BY m.number"
    ))?;
    let modules = statement.query_map([course.account.as_str(), &course.slug], |row| {
        Ok(CourseModule {
            title: row.get(module::title)?,
            summary: row.get(module::summary)?,
            content: row.get(module::content)?,
        })
    })?;
    course.modules = modules.collect::<rusqlite::Result<_>>()?;
    Ok(course)
}
