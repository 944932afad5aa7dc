//! Reading everything, module bodies included, in one state and some courses at a time.

use std::ops::ControlFlow;

use catalogue_core::Course;
use catalogue_core::admin::{Account, Record, Visitor};
use catalogue_core::storage::StorageError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::error::storage_error;
use crate::rows::{account_id, get, owned_text};
use crate::whole_course::{course_header, course_module};

/// How many courses are in memory at the same time.
const BATCH: i64 = 50;

const ACCOUNTS: Sql = Sql {
    text: "SELECT id, name, email FROM accounts WHERE id > $1 ORDER BY id LIMIT $2",
    types: &[Type::TEXT, Type::INT8],
};

/// The first one alone may have an empty id.
const ACCOUNT_WITHOUT_ID: Sql = Sql { text: "SELECT id, name, email FROM accounts WHERE id = ''", types: &[] };

const COURSES: Sql = Sql {
    text: "SELECT account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode \
           FROM courses WHERE (account_id, slug) > ($1, $2) ORDER BY account_id, slug LIMIT $3",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

/// Each course by its keys: a range of courses is not handed on to the bodies, and all of them would be read.
const MODULES: Sql = Sql {
    text: "SELECT m.account_id, m.course_slug, m.title, m.summary, coalesce(b.content, '') \
           FROM unnest($1, $2) AS wanted (account_id, slug) \
           JOIN modules AS m ON m.account_id = wanted.account_id AND m.course_slug = wanted.slug \
           LEFT JOIN module_contents AS b \
           ON b.account_id = m.account_id AND b.course_slug = m.course_slug AND b.number = m.number \
           ORDER BY m.account_id, m.course_slug, m.number",
    types: &[Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};

pub(crate) async fn export(connection: &Connection, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
    // One transaction, so that what others write meanwhile is not half in it.
    connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(storage_error)?;
    let mut rows = connection.query(&ACCOUNT_WITHOUT_ID, &[]).await.map_err(storage_error)?;
    let mut last = String::new();
    loop {
        for row in &rows {
            let account = Account { id: account_id(row, 0)?, name: owned_text(row, 1)?, email: owned_text(row, 2)? };
            account.id.as_str().clone_into(&mut last);
            if visit(Record::Account(account)) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        rows = connection.query(&ACCOUNTS, &[&last, &BATCH]).await.map_err(storage_error)?;
        if rows.is_empty() {
            break;
        }
    }
    // No slug is empty, so this is before the first.
    let mut last = (String::new(), String::new());
    loop {
        let rows = connection.query(&COURSES, &[&last.0, &last.1, &BATCH]).await.map_err(storage_error)?;
        let Some(end) = rows.last() else { return Ok(()) };
        last = (get(end, 0)?, get(end, 1)?);
        for course in with_modules(connection, &rows).await? {
            if visit(Record::Course(course)) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
}

/// Courses, in the order of account and slug, with all their modules.
async fn with_modules(connection: &Connection, rows: &[Row]) -> Result<Vec<Course>, StorageError> {
    let mut courses: Vec<Course> = rows.iter().map(course_header).collect::<Result<_, _>>()?;
    let (accounts, slugs): (Vec<&str>, Vec<&str>) =
        courses.iter().map(|course| (course.account.as_str(), &*course.slug)).unzip();
    let rows = connection.query(&MODULES, &[&accounts, &slugs]).await.map_err(storage_error)?;
    let mut at = 0;
    for row in rows {
        let key: (&str, &str) = (get(&row, 0)?, get(&row, 1)?);
        // Both are in the same order, and there is no module of another course.
        while courses.get(at).is_some_and(|course| (course.account.as_str(), &*course.slug) != key) {
            at += 1;
        }
        if let Some(course) = courses.get_mut(at) {
            course.modules.push(course_module(&row, 2)?);
        }
    }
    Ok(courses)
}
