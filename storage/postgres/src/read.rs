//! The request path: one statement per call (on Citus, two for a credential), each bounded by an index.

use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, PageRequest, Position, Revision, StorageError,
};
use catalogue_core::{AccountId, CourseDetail, Module, async_trait};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::citus;
use crate::connection::{Sql, Values};
use crate::rows;
use crate::storage::PostgresStorage;
use crate::text::storable;

/// The credential with its account's revision: one lookup for everything that a cached response needs.
const FIND_CREDENTIAL: Sql = Sql {
    text: "SELECT c.account_id, c.kind, c.id, c.scopes, c.digest, c.expires_at, c.revoked_at, a.revision \
           FROM credentials AS c JOIN accounts AS a ON a.id = c.account_id WHERE c.digest = $1",
    types: &[Type::BYTEA],
};

/// Always returns a row: [`Readers`](crate::connections::readers::Readers) would query the primary too after no rows.
const IS_REVOKED: Sql = Sql { text: "SELECT count(*) FROM revoked_tokens WHERE digest = $1", types: &[Type::BYTEA] };

/// All rows of a page as one row of arrays, which is cheaper for the database and its clients. A sorted subquery passes its
/// rows to the aggregates in order. The first page starts from a position that no course can have. The statement selects the
/// revision too, so that the revision and the rows are of one snapshot.
const PAGE: Sql = Sql {
    text: "SELECT array_agg(slug) AS slugs, array_agg(title) AS titles, array_agg(language) AS languages, \
           array_agg(published_at) AS published, array_agg(hidden) AS hidden, array_agg(module_count) AS module_counts, \
           array_agg(created_at) AS created, (SELECT revision FROM accounts WHERE id = $1) AS revision \
           FROM (SELECT slug, title, language, published_at, hidden, module_count, created_at FROM courses \
           WHERE account_id = $1 AND (created_at, slug) < ($3, $4) ORDER BY created_at DESC, slug DESC LIMIT $2) AS page \
           HAVING count(slug) > 0",
    types: &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT],
};

/// One statement for the course, its modules and the revision, so all are of one snapshot.
const FIND_COURSE: Sql = Sql {
    text: "SELECT c.slug, c.title, c.tagline, c.language, c.published_at, c.hidden, c.access_mode, \
           m.title AS module_title, m.summary AS module_summary, \
           (SELECT revision FROM accounts WHERE id = $1) AS revision FROM courses AS c \
           LEFT JOIN modules AS m ON m.account_id = c.account_id AND m.course_slug = c.slug \
           WHERE c.account_id = $1 AND c.slug = $2 ORDER BY m.number",
    types: &[Type::TEXT, Type::TEXT],
};

const FIND_REVISION: Sql = Sql { text: "SELECT revision FROM accounts WHERE id = $1", types: &[Type::TEXT] };

#[async_trait]
impl CourseStorage for PostgresStorage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let Some([account]) = storable([account.as_str()]) else { return Ok(None) };
        if let Some(views) = &self.views {
            return views.list_courses(&self.readers, account, page, rows).await;
        }
        let (created_at, slug) = match &page.after {
            None => (i64::MAX, ""),
            Some(Position { created_at, slug }) => (created_at.as_microseconds(), slug.as_str()),
        };
        let values: Values<'_> = &[&account, &(page.rows() as i64), &created_at, &slug];
        let found = self.readers.read(&PAGE, values).await?;
        let Some(row) = found.first() else { return Ok(None) };
        rows::push_courses(row, rows)?;
        rows::revision(row, "revision")
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let Some([account, slug]) = storable([account.as_str(), slug]) else { return Ok(None.into()) };
        if let Some(views) = &self.views {
            return views.find_course(&self.readers, account, slug).await;
        }
        let rows = self.readers.read(&FIND_COURSE, &[&account, &slug]).await?;
        let Some(first) = rows.first() else { return Ok(None.into()) };
        Ok(AtRevision { value: Some(course(first, &rows)?), revision: rows::revision(first, "revision")? })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let Some([account]) = storable([account.as_str()]) else { return Ok(None) };
        if let Some(views) = &self.views {
            return views.revision(&self.readers, account).await;
        }
        let rows = self.readers.read(&FIND_REVISION, &[&account]).await?;
        rows.first().map_or(Ok(None), |row| rows::revision(row, "revision"))
    }
}

#[async_trait]
impl CredentialStorage for PostgresStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let rows = match &self.views {
            Some(views) => return views.find_credential(&self.readers, digest).await,
            None if self.is_distributed => citus::credentials::look_up(&self.readers, digest).await?,
            None => self.readers.read(&FIND_CREDENTIAL, &[&digest.as_bytes().as_slice()]).await?,
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let mut credential = rows::credential(row)?;
        credential.revision = rows::revision(row, "revision")?;
        Ok(Some(credential))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let rows = self.readers.read(&IS_REVOKED, &[&digest.as_bytes().as_slice()]).await?;
        rows.first().map(|row| Ok(rows::get::<i64>(row, "count")? > 0)).transpose()
    }
}

/// Builds the course from the rows of [`FIND_COURSE`].
fn course(first: &Row, rows: &[Row]) -> Result<CourseDetail, StorageError> {
    let mut course = CourseDetail {
        slug: rows::get(first, "slug")?,
        title: rows::owned_text(first, "title")?,
        tagline: rows::owned_text(first, "tagline")?,
        language: rows::owned_text(first, "language")?,
        published_at: rows::optional_time(first, "published_at")?,
        hidden: rows::get(first, "hidden")?,
        access_mode: rows::optional_text(first, "access_mode")?,
        modules: Vec::new(),
    };
    for (number, row) in (1..).zip(rows) {
        // A course without modules is one row without a module.
        let Some(title) = rows::optional_text(row, "module_title")? else { break };
        course.modules.push(Module { number, title, summary: rows::owned_text(row, "module_summary")? });
    }
    Ok(course)
}
