//! Courses of views and the credential that asks for them, by one statement.

use catalogue_core::CourseDetail;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{CourseRows, PageRequest, Position, StorageError};
use tokio_postgres::Row;

use super::Views;
use super::read::{course, push_page, read};
use super::rows::Time;
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
                read(readers, &sql, account, &[&account, &count, &Time::from(*created_at), &bound(slug), &digest])
                    .await?
            }
        };
        let Some((credential, courses)) = split(&found, 8)? else { return Ok(None) };
        push_page(account, courses, rows)?;
        Ok(Some(credential))
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
        let Some((credential, modules)) = split(&found, 13)? else { return Ok(None) };
        let course = modules.first().map(|first| course(account, slug, first, modules)).transpose()?;
        Ok(Some((credential, course)))
    }
}

/// The credential from that column on of the last row, and the rows before it; `None` without a credential.
fn split(found: &[Row], first: usize) -> Result<Option<(Credential, &[Row])>, StorageError> {
    let Some((last, courses)) = found.split_last() else { return Ok(None) };
    let account: Option<&str> = rows::get(last, first)?;
    account.map(|_| Ok((rows::credential(last, first, first + 7)?, courses))).transpose()
}
