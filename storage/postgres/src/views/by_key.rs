//! Courses of views and the credential that asks for them, by one statement.

use catalogue_core::CourseDetail;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{CourseRows, PageRequest, Position, StorageError};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::Views;
use super::read::{course, push_page, read};
use super::rows::system_time;
use crate::connections::readers::Readers;
use crate::rows;
use crate::text::bound;

impl Views {
    /// As [`CoursesByKey::list_courses_by_key`](catalogue_core::storage::CoursesByKey::list_courses_by_key).
    pub(crate) async fn list_courses_by_key(
        &self,
        readers: &Readers,
        digest: &TokenDigest,
        account: &str,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Credential>, StorageError> {
        let (count, digest) = (page.rows() as i64, digest.as_bytes().as_slice());
        let found = match &page.after {
            None => read(readers, &self.statements.first_page_by_key(), account, &[&account, &count, &digest]).await?,
            Some(Position { created_at, slug }) => {
                let sql = self.statements.next_page_by_key();
                let (microseconds, instant) = (created_at.as_microseconds(), system_time(*created_at));
                let created_at: &(dyn ToSql + Sync) = if sql.types[2] == Type::INT8 { &microseconds } else { &instant };
                read(readers, &sql, account, &[&account, &count, created_at, &bound(slug), &digest]).await?
            }
        };
        let Some(first) = found.first() else { return Ok(None) };
        if is_there(first, 8)? {
            push_page(account, &found, rows)?;
        }
        rows::credential(first, 9, 16).map(Some)
    }

    /// As [`CoursesByKey::find_course_by_key`](catalogue_core::storage::CoursesByKey::find_course_by_key).
    pub(crate) async fn find_course_by_key(
        &self,
        readers: &Readers,
        digest: &TokenDigest,
        account: &str,
        slug: &str,
    ) -> Result<Option<(Credential, Option<CourseDetail>)>, StorageError> {
        let digest = digest.as_bytes().as_slice();
        let found = read(readers, &self.statements.find_course_by_key(), account, &[&account, &slug, &digest]).await?;
        let Some(first) = found.first() else { return Ok(None) };
        let course = is_there(first, 11)?.then(|| course(account, slug, first, &found)).transpose()?;
        Ok(Some((rows::credential(first, 13, 20)?, course)))
    }
}

/// Whether there is a course beside the credential: a column that is never null is not.
fn is_there(row: &Row, column: usize) -> Result<bool, StorageError> {
    Ok(rows::get::<Option<bool>>(row, column)?.is_some())
}
