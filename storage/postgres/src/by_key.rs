//! Courses and the credential that asks for them, by one statement. Both are found by their keys, as in [`read`](crate::read).

use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{CourseRows, CoursesByKey, PageRequest, StorageError};
use catalogue_core::{AccountId, CourseDetail, async_trait};
use tokio_postgres::types::Type;

use crate::connection::{Sql, Values};
use crate::read::{course, place};
use crate::rows;
use crate::storage::PostgresStorage;
use crate::text::can_be_stored;

/// A page beside its credential, which is there without a page too. The limit of one keeps the planner from going through all
/// keys of the account.
const PAGE_BY_KEY: Sql = Sql {
    text: "SELECT slugs, titles, languages, published, are_hidden, module_counts, created, a.revision, \
           k.account_id, k.kind, k.id, k.scopes, k.digest, k.expires_at, k.revoked_at \
           FROM (SELECT account_id, kind, id, scopes, digest, expires_at, revoked_at \
           FROM credentials WHERE digest = $5 LIMIT 1) AS k JOIN accounts AS a ON a.id = k.account_id \
           LEFT JOIN (SELECT array_agg(slug) AS slugs, array_agg(title) AS titles, array_agg(language) AS languages, \
           array_agg(published_at) AS published, array_agg(hidden) AS are_hidden, \
           array_agg(module_count) AS module_counts, array_agg(created_at) AS created \
           FROM (SELECT slug, title, language, published_at, hidden, module_count, created_at FROM courses \
           WHERE account_id = $1 AND (created_at, slug) < ($3, $4) ORDER BY created_at DESC, slug DESC LIMIT $2) AS page \
           HAVING count(slug) > 0) AS page ON true WHERE k.account_id = $1",
    types: &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT, Type::BYTEA],
};

/// A course beside its credential, which is there without a course too.
const FIND_COURSE_BY_KEY: Sql = Sql {
    text: "SELECT c.slug, c.title, c.tagline, c.language, c.published_at, c.hidden, c.access_mode, m.title, m.summary, \
           a.revision, k.account_id, k.kind, k.id, k.scopes, k.digest, k.expires_at, k.revoked_at \
           FROM (SELECT account_id, kind, id, scopes, digest, expires_at, revoked_at \
           FROM credentials WHERE digest = $3 LIMIT 1) AS k JOIN accounts AS a ON a.id = k.account_id \
           LEFT JOIN courses AS c ON c.account_id = $1 AND c.slug = $2 \
           LEFT JOIN modules AS m ON m.account_id = $1 AND m.course_slug = $2 \
           WHERE k.account_id = $1 ORDER BY m.number",
    types: &[Type::TEXT, Type::TEXT, Type::BYTEA],
};

#[async_trait]
impl CoursesByKey for PostgresStorage {
    async fn list_courses_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Credential>, StorageError> {
        if !can_be_stored(account.as_str()) {
            return Ok(None);
        }
        if let Some(views) = &self.views {
            return views.list_courses_by_key(&self.readers, digest, account.as_str(), page, rows).await;
        }
        let ((count, created_at, slug), digest) = (place(page), digest.as_bytes().as_slice());
        let values: Values<'_> = &[&account.as_str(), &count, &created_at, &slug, &digest];
        let found = self.readers.read(&PAGE_BY_KEY, values).await?;
        let Some(row) = found.first() else { return Ok(None) };
        rows::push_courses(row, rows)?;
        rows::credential(row, 8, 7).map(Some)
    }

    async fn find_course_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        slug: &str,
    ) -> Result<Option<(Credential, Option<CourseDetail>)>, StorageError> {
        if !can_be_stored(account.as_str()) || !can_be_stored(slug) {
            return Ok(None);
        }
        if let Some(views) = &self.views {
            return views.find_course_by_key(&self.readers, digest, account.as_str(), slug).await;
        }
        let values: Values<'_> = &[&account.as_str(), &slug, &digest.as_bytes().as_slice()];
        let found = self.readers.read(&FIND_COURSE_BY_KEY, values).await?;
        let Some(first) = found.first() else { return Ok(None) };
        let is_there = rows::get::<Option<&str>>(first, 0)?.is_some();
        let course = is_there.then(|| course(first, &found)).transpose()?;
        Ok(Some((rows::credential(first, 10, 9)?, course)))
    }
}
