//! Administration's writes to accounts and courses. They do the work of the triggers, which skip these writes or are missing.

use std::pin::pin;

use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};
use futures_util::future::try_join_all;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::text::{storable, stored};

const BOOL: Type = Type::BOOL;
const INT8: Type = Type::INT8;
const TEXT: Type = Type::TEXT;

/// Serializes writers to one account; new credentials do not wait for them.
pub(crate) const LOCK_ACCOUNT: Sql =
    Sql { text: "SELECT name, email FROM accounts WHERE id = $1 FOR NO KEY UPDATE", types: &[TEXT] };

/// The value is a parameter: on Citus, each node would generate another one, so Citus refuses `gen_random_uuid()` here.
const REPLACE_REVISION: Sql =
    Sql { text: "UPDATE accounts SET revision = $2 WHERE id = $1", types: &[TEXT, Type::UUID] };

/// `COPY` inserts many rows at a time, on every engine, and needs only the `INSERT` privilege.
const COPY_COURSES: Sql = Sql {
    text: "COPY courses \
           (account_id, created_at, slug, title, tagline, language, published_at, hidden, access_mode, module_count) \
           FROM STDIN (FORMAT binary)",
    types: &[TEXT, INT8, TEXT, TEXT, TEXT, TEXT, INT8, BOOL, TEXT, INT8],
};

const COPY_MODULES: Sql = Sql {
    text: "COPY modules (account_id, course_slug, number, title, summary) FROM STDIN (FORMAT binary)",
    types: &[TEXT, TEXT, INT8, TEXT, TEXT],
};

const COPY_CONTENTS: Sql = Sql {
    text: "COPY module_contents (account_id, course_slug, number, content) FROM STDIN (FORMAT binary)",
    types: &[TEXT, TEXT, INT8, TEXT],
};

/// The course comes last: its row count is the result. One course per statement: for a list of slugs, PostgreSQL may read all
/// rows of an account that it believes to be small.
pub(crate) const REMOVE_COURSE: [Sql; 3] = [
    Sql { text: "DELETE FROM module_contents WHERE account_id = $1 AND course_slug = $2", types: &[TEXT, TEXT] },
    Sql { text: "DELETE FROM modules WHERE account_id = $1 AND course_slug = $2", types: &[TEXT, TEXT] },
    Sql { text: "DELETE FROM courses WHERE account_id = $1 AND slug = $2", types: &[TEXT, TEXT] },
];

/// Locks the account against other writers until this transaction ends; returns whether it exists.
pub(crate) async fn lock_account(connection: &Connection, account: &AccountId) -> Result<bool, StorageError> {
    let Some([account]) = storable([account.as_str()]) else { return Ok(false) };
    Ok(!connection.query(&LOCK_ACCOUNT, &[&account]).await?.is_empty())
}

/// Replaces the account's revision, in the transaction of the change, as a trigger would.
pub(crate) async fn replace_revision(connection: &Connection, account: &AccountId) -> Result<(), StorageError> {
    connection.execute(&REPLACE_REVISION, &[&account.as_str(), &Uuid::new_v4()]).await.map(|_| ())
}

/// Removes a course with its modules and bodies. Returns whether it existed.
pub(crate) async fn remove_course(
    connection: &Connection,
    account: &AccountId,
    slug: &str,
) -> Result<bool, StorageError> {
    let account = account.as_str();
    let values: Values<'_> = &[&account, &slug];
    let removed = try_join_all(REMOVE_COURSE.iter().map(|sql| connection.execute(sql, values))).await?;
    Ok(removed.last().is_some_and(|&courses| courses > 0))
}

/// Adds courses with their modules and bodies; none of them may exist.
pub(crate) async fn insert_courses(connection: &Connection, courses: &[&Course]) -> Result<(), StorageError> {
    let mut rows = pin!(connection.copy(&COPY_COURSES).await?);
    for course in courses {
        let Course { account, slug, title, tagline, language, created_at, published_at, hidden, access_mode, modules } =
            course;
        let (account, created_at) = (account.as_str(), created_at.as_microseconds());
        let published_at = published_at.map(Timestamp::as_microseconds);
        let [title, tagline, language] = [title, tagline, language].map(|text| stored(text));
        let (access_mode, count) = (access_mode.as_deref().map(stored), modules.len() as i64);
        let row: Values<'_> =
            &[&account, &created_at, slug, &title, &tagline, &language, &published_at, hidden, &access_mode, &count];
        rows.as_mut().write(row).await.map_err(storage_error)?;
    }
    rows.finish().await.map_err(storage_error)?;

    let mut rows = pin!(connection.copy(&COPY_MODULES).await?);
    for (account, slug, number, module) in modules(courses) {
        let row: Values<'_> = &[&account, &slug, &number, &stored(&module.title), &stored(&module.summary)];
        rows.as_mut().write(row).await.map_err(storage_error)?;
    }
    rows.finish().await.map_err(storage_error)?;

    let mut rows = pin!(connection.copy(&COPY_CONTENTS).await?);
    for (account, slug, number, module) in modules(courses).filter(|(.., module)| !module.content.is_empty()) {
        rows.as_mut().write(&[&account, &slug, &number, &stored(&module.content)]).await.map_err(storage_error)?;
    }
    rows.finish().await.map(|_| ()).map_err(storage_error)
}

/// Returns all modules of `courses`, each with its account, slug and number.
fn modules<'c>(courses: &'c [&Course]) -> impl Iterator<Item = (&'c str, &'c str, i64, &'c CourseModule)> {
    courses.iter().flat_map(|course| {
        let numbered = (1..).zip(&course.modules);
        numbered.map(|(number, module)| (course.account.as_str(), &*course.slug, number, module))
    })
}
