//! Reading everything, module bodies included, in one state and one course at a time.

use catalogue_core::admin::{Accounts, Record, Visitor};
use catalogue_core::{AccountId, Course, CourseModule};
use rusqlite::{Connection, Row};

use crate::accounts::{account, sorted, visit_rows};
use crate::rows::{account_id, optional_time, time};

/// The columns of [`course_header`].
const COURSE_COLUMNS: &str =
    "account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode";

pub(crate) fn export(
    connection: &mut Connection,
    accounts: Accounts<'_>,
    visit: &mut Visitor<'_>,
) -> rusqlite::Result<()> {
    // One transaction, so that what others write meanwhile is not half in it.
    let transaction = connection.transaction()?;
    let account = |row: &Row<'_>| account(row).map(Record::Account);
    let course = |row: &Row<'_>| with_modules(&transaction, course_header(row)?).map(Record::Course);
    let of_all = "SELECT id, name, email FROM accounts";
    let courses = format!("SELECT {COURSE_COLUMNS} FROM courses");
    match accounts {
        Accounts::All => {
            if visit_rows(&transaction, &format!("{of_all} ORDER BY id"), [], account, visit)?.is_continue() {
                let _ = visit_rows(&transaction, &format!("{courses} ORDER BY account_id, slug"), [], course, visit)?;
            }
        }
        Accounts::Only(ids) => {
            let ids = sorted(ids);
            for id in &ids {
                if visit_rows(&transaction, &format!("{of_all} WHERE id = ?1"), [id], account, visit)?.is_break() {
                    return Ok(());
                }
            }
            let of_one = format!("{courses} WHERE account_id = ?1 ORDER BY slug");
            for id in ids {
                if visit_rows(&transaction, &of_one, [id], course, visit)?.is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// One course with its modules and their bodies.
pub(crate) fn find_whole_course(
    connection: &Connection,
    account: &AccountId,
    slug: &str,
) -> rusqlite::Result<Option<Course>> {
    let sql = format!("SELECT {COURSE_COLUMNS} FROM courses WHERE account_id = ?1 AND slug = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([account.as_str(), slug])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    with_modules(connection, course_header(row)?).map(Some)
}

fn course_header(row: &Row<'_>) -> rusqlite::Result<Course> {
    Ok(Course {
        account: account_id(row, 0)?,
        slug: row.get(1)?,
        title: row.get(2)?,
        tagline: row.get(3)?,
        language: row.get(4)?,
        created_at: time(row, 5)?,
        published_at: optional_time(row, 6)?,
        hidden: row.get(7)?,
        access_mode: row.get(8)?,
        modules: Vec::new(),
    })
}

fn with_modules(connection: &Connection, mut course: Course) -> rusqlite::Result<Course> {
    let mut statement = connection.prepare_cached(
        "SELECT m.title, m.summary, coalesce(c.content, '') FROM modules AS m \
         LEFT JOIN module_contents AS c USING (account_id, course_slug, number) \
         WHERE m.account_id = ?1 AND m.course_slug = ?2 ORDER BY m.number",
    )?;
    let modules = statement.query_map([course.account.as_str(), &course.slug], |row| {
        Ok(CourseModule { title: row.get(0)?, summary: row.get(1)?, content: row.get(2)? })
    })?;
    course.modules = modules.collect::<rusqlite::Result<_>>()?;
    Ok(course)
}
