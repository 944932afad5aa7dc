//! Reading everything, module bodies included, in one state and some courses at a time.

use std::ops::ControlFlow;

use catalogue_core::Course;
use catalogue_core::admin::{Accounts, Record, Visitor};
use catalogue_core::storage::StorageError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::accounts::{NAMED, PAGE_OF_ALL, Pages, sorted};
use crate::connection::{Connection, Sql};
use crate::rows::get;
use crate::whole_course::{course_header, course_module};

/// How many courses are in memory at the same time.
const BATCH: i64 = 50;

const COURSES: Sql = Sql {
    text: "SELECT account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode \
           FROM courses WHERE (account_id, slug) > ($1, $2) ORDER BY account_id, slug LIMIT $3",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

const COURSES_OF_ONE: Sql = Sql {
    text: "SELECT account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode \
           FROM courses WHERE account_id = $1 AND slug > $2 ORDER BY slug LIMIT $3",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

/// Each course by its keys: a range of courses is not handed on to the bodies, and all of them would be read.
const MODULES: Sql = Sql {
    text: "SELECT m.account_id, m.course_slug, m.title, m.summary, coalesce(b.content, '') AS content \
           FROM unnest($1, $2) AS wanted (account_id, slug) \
           JOIN modules AS m ON m.account_id = wanted.account_id AND m.course_slug = wanted.slug \
           LEFT JOIN module_contents AS b \
           ON b.account_id = m.account_id AND b.course_slug = m.course_slug AND b.number = m.number \
           ORDER BY m.account_id, m.course_slug, m.number",
    types: &[Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};

pub(crate) async fn export(
    connection: &Connection,
    accounts: Accounts<'_>,
    visit: &mut Visitor<'_>,
) -> Result<(), StorageError> {
    // One transaction, so that what others write meanwhile is not half in it.
    let mut pages = Pages::begin(connection, accounts, [PAGE_OF_ALL, NAMED]).await?;
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
    let walks = match accounts {
        Accounts::All => vec![("", &COURSES)],
        Accounts::Only(ids) => sorted(ids).into_iter().map(|id| (id, &COURSES_OF_ONE)).collect(),
    };
    for (first, sql) in walks {
        // No slug is empty, so this is before the first.
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

/// Courses, in the order of account and slug, with all their modules.
async fn with_modules(connection: &Connection, rows: &[Row]) -> Result<Vec<Course>, StorageError> {
    let mut courses: Vec<Course> = rows.iter().map(course_header).collect::<Result<_, _>>()?;
    let (accounts, slugs): (Vec<&str>, Vec<&str>) =
        courses.iter().map(|course| (course.account.as_str(), &*course.slug)).unzip();
    let rows = connection.query(&MODULES, &[&accounts, &slugs]).await?;
    let mut at = 0;
    for row in rows {
        let key: (&str, &str) = (get(&row, "account_id")?, get(&row, "course_slug")?);
        // Both are in the same order, and there is no module of another course.
        while courses.get(at).is_some_and(|course| (course.account.as_str(), &*course.slug) != key) {
            at += 1;
        }
        if let Some(course) = courses.get_mut(at) {
            course.modules.push(course_module(&row)?);
        }
    }
    Ok(courses)
}
