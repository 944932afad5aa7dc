//! Reading everything, module bodies included, in one state and some courses at a time.

use std::ops::ControlFlow;

use catalogue_core::{Account, Course, CourseModule, Record, StorageError, Visitor};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::rows::{account_id, get, optional_text, optional_time, owned_text, time};

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

const MODULES: Sql = Sql {
    text: "SELECT m.account_id, m.course_slug, m.title, m.summary, coalesce(b.content, '') FROM modules AS m \
           LEFT JOIN module_contents AS b \
           ON b.account_id = m.account_id AND b.course_slug = m.course_slug AND b.number = m.number \
           WHERE (m.account_id, m.course_slug) >= ($1, $2) AND (m.account_id, m.course_slug) <= ($3, $4) \
           ORDER BY m.account_id, m.course_slug, m.number",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};

const FIND_COURSE: Sql = Sql {
    text: "SELECT account_id, slug, title, tagline, language, created_at, published_at, hidden, access_mode \
           FROM courses WHERE account_id = $1 AND slug = $2",
    types: &[Type::TEXT, Type::TEXT],
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

/// One course with its modules and their bodies.
pub(crate) async fn find_whole_course(
    connection: &Connection,
    account: &str,
    slug: &str,
) -> Result<Option<Course>, StorageError> {
    let rows = connection.query(&FIND_COURSE, &[&account, &slug]).await.map_err(storage_error)?;
    Ok(with_modules(connection, &rows).await?.pop())
}

/// Courses, in the order of account and slug, with all their modules.
async fn with_modules(connection: &Connection, rows: &[Row]) -> Result<Vec<Course>, StorageError> {
    let mut courses: Vec<Course> = rows.iter().map(course_header).collect::<Result<_, _>>()?;
    let (Some(first), Some(last)) = (courses.first(), courses.last()) else { return Ok(courses) };
    let range = [first.account.as_str(), &first.slug, last.account.as_str(), &last.slug].map(str::to_owned);
    let values: Values<'_> = &[&range[0], &range[1], &range[2], &range[3]];
    let rows = connection.query(&MODULES, values).await.map_err(storage_error)?;
    let mut at = 0;
    for row in rows {
        let key: (&str, &str) = (get(&row, 0)?, get(&row, 1)?);
        // Both are in the same order. Modules whose course is not there, which a host may have left, belong to none.
        while at < courses.len() && (courses[at].account.as_str(), &*courses[at].slug) < key {
            at += 1;
        }
        let course = courses.get_mut(at).filter(|course| (course.account.as_str(), &*course.slug) == key);
        if let Some(course) = course {
            let module = CourseModule {
                title: owned_text(&row, 2)?,
                summary: owned_text(&row, 3)?,
                content: owned_text(&row, 4)?,
            };
            course.modules.push(module);
        }
    }
    Ok(courses)
}

fn course_header(row: &Row) -> Result<Course, StorageError> {
    Ok(Course {
        account: account_id(row, 0)?,
        slug: get(row, 1)?,
        title: owned_text(row, 2)?,
        tagline: owned_text(row, 3)?,
        language: owned_text(row, 4)?,
        created_at: time(row, 5)?,
        published_at: optional_time(row, 6)?,
        hidden: get(row, 7)?,
        access_mode: optional_text(row, 8)?,
        modules: Vec::new(),
    })
}
