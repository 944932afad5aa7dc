//! Writing below one account, for all of administration: with what the triggers would do, which stand back or are missing.

use catalogue_core::{AccountId, Course, Timestamp};
use futures_util::future::try_join_all;
use tokio_postgres::Error;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Connection, Sql, Values};
use crate::text::{can_be_stored, stored};

const BOOL: Type = Type::BOOL;
const INT8: Type = Type::INT8;
const TEXT: Type = Type::TEXT;

/// Writers to one account come one after the other; new credentials do not wait for them.
pub(crate) const LOCK_ACCOUNT: Sql =
    Sql { text: "SELECT name, email FROM accounts WHERE id = $1 FOR NO KEY UPDATE", types: &[TEXT] };

/// The value is drawn here: each node of Citus would draw another one, so it lets no change of rows do that.
const REPLACE_REVISION: Sql =
    Sql { text: "UPDATE accounts SET revision = $2 WHERE id = $1", types: &[TEXT, Type::UUID] };

const INSERT_COURSE: Sql = Sql {
    text: "INSERT INTO courses \
           (account_id, created_at, slug, title, tagline, language, published_at, hidden, access_mode, module_count) \
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    types: &[TEXT, INT8, TEXT, TEXT, TEXT, TEXT, INT8, BOOL, TEXT, INT8],
};

const INSERT_MODULES: Sql = Sql {
    text: "INSERT INTO modules (account_id, course_slug, number, title, summary) \
           SELECT $1, $2, put.number, put.title, put.summary FROM unnest($3, $4, $5) AS put (number, title, summary)",
    types: &[TEXT, TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};

const INSERT_CONTENTS: Sql = Sql {
    text: "INSERT INTO module_contents (account_id, course_slug, number, content) \
           SELECT $1, $2, put.number, put.content FROM unnest($3, $4) AS put (number, content)",
    types: &[TEXT, TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY],
};

/// The courses last, whose number counts.
const REMOVE_COURSES: [Sql; 3] = [
    Sql {
        text: "DELETE FROM module_contents WHERE account_id = $1 AND course_slug = ANY($2)",
        types: &[TEXT, Type::TEXT_ARRAY],
    },
    Sql {
        text: "DELETE FROM modules WHERE account_id = $1 AND course_slug = ANY($2)",
        types: &[TEXT, Type::TEXT_ARRAY],
    },
    Sql { text: "DELETE FROM courses WHERE account_id = $1 AND slug = ANY($2)", types: &[TEXT, Type::TEXT_ARRAY] },
];

/// Lets other writers to the account wait until this transaction ends; says whether there is such an account.
pub(crate) async fn lock_account(connection: &Connection, account: &AccountId) -> Result<bool, Error> {
    if !can_be_stored(account.as_str()) {
        return Ok(false);
    }
    Ok(!connection.query(&LOCK_ACCOUNT, &[&account.as_str()]).await?.is_empty())
}

/// In the same transaction as the change, as a trigger would do it.
pub(crate) async fn replace_revision(connection: &Connection, account: &AccountId) -> Result<(), Error> {
    connection.execute(&REPLACE_REVISION, &[&account.as_str(), &Uuid::new_v4()]).await.map(|_| ())
}

/// Removes courses with their modules and bodies, and says how many there were.
pub(crate) async fn remove_courses(connection: &Connection, account: &AccountId, slugs: &[&str]) -> Result<u64, Error> {
    let account = account.as_str();
    let values: Values<'_> = &[&account, &slugs];
    let removed = try_join_all(REMOVE_COURSES.iter().map(|sql| connection.execute(sql, values))).await?;
    Ok(removed.last().copied().unwrap_or_default())
}

/// Adds a course with its modules and bodies, none of which may be there.
pub(crate) async fn insert_course(connection: &Connection, course: &Course) -> Result<(), Error> {
    let (account, slug, modules) = (course.account.as_str(), &course.slug, &course.modules);
    let count = modules.len() as i64;
    let created_at = course.created_at.as_microseconds();
    let published_at = course.published_at.map(Timestamp::as_microseconds);
    let [title, tagline, language] = [&course.title, &course.tagline, &course.language].map(|text| stored(text));
    let (hidden, access_mode) = (course.hidden, course.access_mode.as_deref().map(stored));
    let course: Values<'_> =
        &[&account, &created_at, slug, &title, &tagline, &language, &published_at, &hidden, &access_mode, &count];

    let numbers: Vec<i64> = (1..=count).collect();
    let titles: Vec<_> = modules.iter().map(|module| stored(&module.title)).collect();
    let summaries: Vec<_> = modules.iter().map(|module| stored(&module.summary)).collect();
    let headers: Values<'_> = &[&account, slug, &numbers, &titles, &summaries];

    let contents = numbers.iter().zip(modules).filter(|(_, module)| !module.content.is_empty());
    let (numbers, contents): (Vec<i64>, Vec<_>) =
        contents.map(|(number, module)| (*number, stored(&module.content))).unzip();
    let contents: Values<'_> = &[&account, slug, &numbers, &contents];

    let statements = [(&INSERT_COURSE, course), (&INSERT_MODULES, headers), (&INSERT_CONTENTS, contents)];
    try_join_all(statements.map(|(sql, values)| connection.execute(sql, values))).await.map(|_| ())
}
