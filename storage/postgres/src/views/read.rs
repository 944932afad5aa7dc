//! Queries of requests over views.

use catalogue_core::CourseDetail;
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::views::{COURSES, Column, MODULES, Owner, Page, REVISIONS, RowCheck, ViewProblem};
use catalogue_core::storage::{
    AtRevision, CourseRows, PageRequest, Position, Revision, StorageError, StorageErrorKind,
};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::Views;
use super::freshness::Generation;
use super::rows::{Time, corrupt, view_row};
use super::statements::{COURSE_REVISION, MODULE, PAGE_REVISION, SAME_SLUG_COUNT};
use crate::connection::{Sql, Values};
use crate::connections::readers::Readers;
use crate::error::code;
use crate::rows;

/// Like [`Statements::find_credential`](super::Statements::find_credential), but without a view.
const FIND_CREDENTIAL_WITHOUT_REVISION: Sql = Sql {
    text: "SELECT account_id, kind, id, scopes, digest, expires_at, revoked_at, CAST(NULL AS UUID) \
           FROM credentials WHERE digest = $1",
    types: &[Type::BYTEA],
};

impl Views {
    /// Returns a credential; without a revision if a view fails, as some responses need none.
    pub(crate) async fn find_credential(
        &self,
        readers: &Readers,
        digest: &TokenDigest,
    ) -> Result<Option<Credential>, StorageError> {
        let digest: Values<'_> = &[&digest.as_bytes().as_slice()];
        let generation = self.generation(readers).await;
        let found = readers.read(&self.statements.find_credential.sql(), digest).await;
        let checked = found.and_then(|rows| {
            let Some(row) = rows.first() else { return Ok(None) };
            let mut credential = rows::credential(row)?;
            credential.revision = revision(credential.identity.account.as_str(), row, 7, generation)?;
            Ok(Some(credential))
        });
        match checked {
            Err(error) if ![StorageErrorKind::Busy, StorageErrorKind::Unavailable].contains(&error.kind()) => {
                let rows = readers.read(&FIND_CREDENTIAL_WITHOUT_REVISION, digest).await?;
                if let Some(row) = rows.first() {
                    let error = view_error(error, rows::get(row, 0)?);
                    tracing::warn!(%error, "cannot read the revision of a key's account");
                }
                rows.first().map(rows::credential).transpose()
            }
            checked => checked,
        }
    }

    /// Implements [`CourseStorage::list_courses`](catalogue_core::storage::CourseStorage::list_courses).
    pub(crate) async fn list_courses(
        &self,
        readers: &Readers,
        account: &str,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let count = page.rows() as i64;
        let generation = self.generation(readers).await;
        let found = match &page.after {
            None => read(readers, &self.statements.first_page.sql(), account, &[&account, &count]).await?,
            Some(Position { created_at, slug }) => {
                let values: Values<'_> = &[&account, &count, &Time(*created_at), slug];
                read(readers, &self.statements.next_page.sql(), account, values).await?
            }
        };
        push_page(account, &found, rows)?;
        found.first().map_or(Ok(None), |row| revision(account, row, PAGE_REVISION, generation))
    }

    /// Implements [`CourseStorage::find_course`](catalogue_core::storage::CourseStorage::find_course).
    pub(crate) async fn find_course(
        &self,
        readers: &Readers,
        account: &str,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let generation = self.generation(readers).await;
        let rows = read(readers, &self.statements.find_course.sql(), account, &[&account, &slug]).await?;
        let Some(first) = rows.first() else { return Ok(None.into()) };
        let revision = revision(account, first, COURSE_REVISION, generation)?;
        Ok(AtRevision { value: Some(course(account, slug, first, &rows)?), revision })
    }

    /// Implements [`CourseStorage::revision`](catalogue_core::storage::CourseStorage::revision).
    pub(crate) async fn revision(&self, readers: &Readers, account: &str) -> Result<Option<Revision>, StorageError> {
        let Some(generation) = self.generation(readers).await else { return Ok(None) };
        let rows = read(readers, &self.statements.find_revision.sql(), account, &[&account]).await?;
        rows.first().map_or(Ok(None), |row| revision(account, row, 0, Some(generation)))
    }
}

/// Returns the revision at `position`, mixed with `generation`; `None` if either is missing.
pub(crate) fn revision(
    account: &str,
    row: &Row,
    position: usize,
    generation: Option<Generation>,
) -> Result<Option<Revision>, StorageError> {
    let row = view_row(REVISIONS, row, 0, &[]);
    if row.is_null(position) {
        return Ok(None);
    }
    let named = |problem: Box<ViewProblem>| corrupt(ViewProblem { key: Some(account.to_owned()), ..*problem });
    let found = row.revision(Column(position, "revision")).map_err(named)?;
    Ok(generation.map(|generation| generation.of(found)))
}

/// Pushes the courses of a page.
pub(super) fn push_page(account: &str, found: &[Row], rows: &mut CourseRows<'_>) -> Result<(), StorageError> {
    check_unique_slugs(account, found)?;
    let owner = Owner::new(account);
    for row in found {
        let (course, created_at) = view_row(COURSES, row, 0, Page::KEY).course(owner).map_err(corrupt)?;
        let position = || Ok(Position { created_at, slug: course.slug.to_owned() });
        if rows.try_push(course, position)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Builds the course from the rows of [`Statements::find_course`](super::Statements::find_course).
pub(super) fn course(account: &str, slug: &str, first: &Row, rows: &[Row]) -> Result<CourseDetail, StorageError> {
    let owner = Owner::new(account);
    let mut course = view_row(COURSES, first, 0, &[0, 1]).detail(owner).map_err(corrupt)?;
    if rows::get::<i64>(first, SAME_SLUG_COUNT)? > 1 {
        return Err(corrupt(RowCheck::Slugs.problem(account, slug, 0, 0)));
    }
    for (number, row) in (1..).zip(rows) {
        let module = view_row(MODULES, row, MODULE, &[0, 1, 4]);
        // A course without modules is one row without a module.
        if module.is_null(0) {
            break;
        }
        let module = module.module(owner).map_err(corrupt)?;
        if module.number != number {
            return Err(corrupt(RowCheck::Numbers.problem(account, slug, 0, 0)));
        }
        course.modules.push(module);
    }
    Ok(course)
}

/// Queries the views for an account's data.
pub(super) async fn read(
    readers: &Readers,
    sql: &Sql<'_>,
    account: &str,
    values: Values<'_>,
) -> Result<Vec<Row>, StorageError> {
    readers.read(sql, values).await.map_err(|error| view_error(error, account))
}

/// Converts the error of a statement over views; attributes it to the host application's rows if they caused it.
pub(crate) fn view_error(error: StorageError, account: &str) -> StorageError {
    match code(&error) {
        Some(&SqlState::CARDINALITY_VIOLATION) => {
            corrupt(RowCheck::Revisions.problem(account, "", 0, 0)).with_source(error)
        }
        Some(&SqlState::UNDEFINED_COLUMN | &SqlState::UNDEFINED_TABLE | &SqlState::UNDEFINED_FUNCTION) => {
            let what = "a view or column was dropped or has another type; restore it, or restart the server";
            StorageError::new(error.kind(), what).with_source(error)
        }
        // Such as a division by zero, or a text that is not a number.
        Some(code) if code.code().starts_with("22") => {
            StorageError::new(StorageErrorKind::Corrupt, "a view fails on rows of its tables").with_source(error)
        }
        _ => error,
    }
}

/// Returns an error if two courses of a page have the same slug.
fn check_unique_slugs(account: &str, rows: &[Row]) -> Result<(), StorageError> {
    let mut slugs: Vec<&str> = rows.iter().filter_map(|row| row.try_get(Page::SLUG.0).ok()).collect();
    slugs.sort_unstable();
    match slugs.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(corrupt(RowCheck::Slugs.problem(account, pair[0], 0, 0))),
    }
}
