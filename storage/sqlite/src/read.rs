//! The request path: lookups and pages, each one statement that is bounded by an index.

use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRow, CourseRows, CourseStorage, CredentialStorage, PageRequest, Position, Revision, StorageError,
};
use catalogue_core::{AccountId, CourseDetail, Module, async_trait};
use rusqlite::{Connection, OptionalExtension, params};

use crate::columns::columns;
use crate::error::is_locked;
use crate::readers::{COURSES_WAIT, CREDENTIAL_WAIT};
use crate::row_buffer::{self, BufferedRow};
use crate::rows::{self, Micros};
use crate::storage::SqliteStorage;

columns!(found, found_columns: account_id, kind, id = "c.id", scopes, digest, expires_at, revoked_at, revision);

/// Reads the credential and its account's revision: all that a cached response needs, in one lookup.
const FIND_CREDENTIAL: &str = concat!(
    "SELECT ",
    found_columns!(),
    " FROM credentials AS c JOIN accounts AS a ON a.id = c.account_id WHERE c.digest = ?1"
);

/// Like [`FIND_CREDENTIAL`], but without the revision, for courses and revisions in another program's views.
const FIND_CREDENTIAL_WITHOUT_REVISION: &str =
    concat!("SELECT ", found_columns!(), " FROM (SELECT *, NULL AS revision FROM credentials) AS c WHERE digest = ?1");

// Columns in reverse table order: SQLite decodes a record's header up to the requested column, so reading the
// last column first decodes the header only once.
columns!(listed, listed_columns: module_count, hidden, published_at, language, title, slug, created_at);

const FIRST_PAGE: &str = concat!(
    "SELECT catalogue_row(",
    listed_columns!(),
    ") FROM courses WHERE account_id = ?1 ORDER BY created_at DESC, slug DESC LIMIT ?2"
);

const NEXT_PAGE: &str = concat!(
    "SELECT catalogue_row(",
    listed_columns!(),
    ") FROM courses WHERE account_id = ?1 AND (created_at, slug) < (?3, ?4) ORDER BY created_at DESC, slug DESC LIMIT ?2"
);

columns!(detail, detail_columns: slug = "c.slug", title = "c.title", tagline, language, published_at, hidden, access_mode,
    module_title = "m.title", module_summary = "m.summary");

/// Reads the course and its modules in one statement, so that both are from one state.
const FIND_COURSE: &str = concat!(
    "SELECT ",
    detail_columns!(),
    " FROM courses AS c LEFT JOIN modules AS m ON m.account_id = c.account_id AND m.course_slug = c.slug \
     WHERE c.account_id = ?1 AND c.slug = ?2 ORDER BY m.number"
);

/// `EXISTS` always returns a row, so "not revoked" can be cached too.
const IS_REVOKED: &str = "SELECT EXISTS (SELECT 1 FROM revoked_tokens WHERE digest = ?1)";

const FIND_REVISION: &str = "SELECT revision FROM accounts WHERE id = ?1";

#[async_trait]
impl CourseStorage for SqliteStorage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        if let Some(views) = &self.views {
            return views.list_courses(account, page, rows).await;
        }
        self.readers.read_within(COURSES_WAIT, |connection| list_courses(connection, account, page, rows))?;
        // Read after the rows: if a commit was in between, it differs from the credential's revision, and nothing is cached.
        unless_locked(self.read_revision(account))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        if let Some(views) = &self.views {
            return views.find_course(account, slug).await;
        }
        let value = self.readers.read_within(COURSES_WAIT, |connection| find_course(connection, account, slug))?;
        Ok(AtRevision { value, revision: unless_locked(self.read_revision(account))? })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        if let Some(views) = &self.views {
            return views.revision(account).await;
        }
        self.readers.retry_while_locked(COURSES_WAIT, || self.read_revision(account))
    }
}

/// Returns the revision after a read; `None` if the database is locked by then, so that the response is not cached.
pub(crate) fn unless_locked(
    revision: Result<Option<Revision>, StorageError>,
) -> Result<Option<Revision>, StorageError> {
    match revision {
        Err(error) if is_locked(&error) => Ok(None),
        revision => revision,
    }
}

impl SqliteStorage {
    /// Returns the account's revision, usually from the cache.
    fn read_revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        self.readers.read_cached(&self.caches.revisions, account, |connection| {
            let mut statement = connection.prepare_cached(FIND_REVISION)?;
            statement.query_row([account.as_str()], |row| Ok(Revision::from_bytes(row.get(0)?))).optional()
        })
    }

    fn read_credential(&self, token: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let sql = if self.views.is_some() { FIND_CREDENTIAL_WITHOUT_REVISION } else { FIND_CREDENTIAL };
        let found = self.readers.read_cached(&self.caches.credentials, token, |connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let found = statement.query_row([token.as_bytes()], |row| {
                use found::*;

                let mut credential = Credential::new(rows::identity(row, [account_id, kind, id, scopes, digest])?);
                credential.expires_at = rows::optional_time(row, expires_at)?;
                credential.revoked_at = rows::optional_time(row, revoked_at)?;
                credential.revision = row.get::<_, Option<_>>(revision)?.map(Revision::from_bytes);
                Ok(credential)
            });
            found.optional()
        })?;
        let Some(views) = &self.views else { return Ok(found) };
        Ok(found.map(|mut credential| {
            // If the revision cannot be read, course requests fail, but the credential is still valid.
            credential.revision = views.read_revision(&credential.identity.account).ok().flatten();
            credential
        }))
    }

    fn read_revocation(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.readers.read_cached(&self.caches.revocations, digest, |connection| {
            let mut statement = connection.prepare_cached(IS_REVOKED)?;
            statement.query_row([digest.as_bytes()], |row| row.get(0)).map(Some)
        })
    }
}

#[async_trait]
impl CredentialStorage for SqliteStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.readers.retry_while_locked(CREDENTIAL_WAIT, || self.read_credential(digest))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        self.readers.retry_while_locked(CREDENTIAL_WAIT, || self.read_revocation(digest))
    }
}

/// Reads a page. A retry passes no row twice: an attempt that finds the database locked fails before its first row.
fn list_courses(
    connection: &Connection,
    account: &AccountId,
    page: &PageRequest,
    rows: &mut CourseRows<'_>,
) -> rusqlite::Result<()> {
    let count = page.rows();
    let mut statement;
    let found = match &page.after {
        None => {
            statement = connection.prepare_cached(FIRST_PAGE)?;
            statement.query(params![account.as_str(), count as i64])?
        }
        Some(after) => {
            statement = connection.prepare_cached(NEXT_PAGE)?;
            statement.query(params![account.as_str(), count as i64, Micros(after.created_at), after.slug])?
        }
    };
    row_buffer::collect(found, count, |mut rows_in_buffer| {
        rows_in_buffer.try_for_each(|row| rows.try_push(course(&row)?, || position(&row)).map(drop))
    })?
}

#[inline]
fn course<'k>(row: &BufferedRow<'k>) -> rusqlite::Result<CourseRow<'k>> {
    Ok(CourseRow {
        slug: row.text(listed::slug)?,
        title: row.text(listed::title)?,
        language: row.text(listed::language)?,
        published_at: row.get::<Option<Micros>>(listed::published_at)?.map(|time| time.0),
        hidden: row.get(listed::hidden)?,
        module_count: row.get(listed::module_count)?,
    })
}

fn position(row: &BufferedRow<'_>) -> rusqlite::Result<Position> {
    Ok(Position { created_at: row.get::<Micros>(listed::created_at)?.0, slug: row.get(listed::slug)? })
}

fn find_course(connection: &Connection, account: &AccountId, slug: &str) -> rusqlite::Result<Option<CourseDetail>> {
    let mut statement = connection.prepare_cached(FIND_COURSE)?;
    let mut rows = statement.query([account.as_str(), slug])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut course = CourseDetail {
        slug: row.get(detail::slug)?,
        title: row.get(detail::title)?,
        tagline: row.get(detail::tagline)?,
        language: row.get(detail::language)?,
        published_at: rows::optional_time(row, detail::published_at)?,
        hidden: row.get(detail::hidden)?,
        access_mode: row.get(detail::access_mode)?,
        modules: Vec::new(),
    };
    let mut row = Some(row);
    while let Some(module) = row {
        // A course without modules is one row without a module.
        let Some(title) = module.get(detail::module_title)? else { break };
        let number = u32::try_from(course.modules.len() + 1).unwrap_or(u32::MAX);
        course.modules.push(Module { number, title, summary: module.get(detail::module_summary)? });
        row = rows.next()?;
    }
    Ok(Some(course))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn pages_read_primary_key_range_without_sort() {
        assert_eq!(plan(FIRST_PAGE), ["SEARCH courses USING PRIMARY KEY (account_id=?)"]);
        assert_eq!(plan(NEXT_PAGE), ["SEARCH courses USING PRIMARY KEY (account_id=? AND (created_at,slug)<(?,?))"]);
    }

    #[test]
    fn detail_needs_two_lookups_and_no_sort() {
        assert_eq!(
            plan(FIND_COURSE),
            [
                "SEARCH c USING INDEX courses_by_slug (account_id=? AND slug=?)",
                "SEARCH m USING PRIMARY KEY (account_id=? AND course_slug=?) LEFT-JOIN",
            ]
        );
    }

    #[test]
    fn credentials_and_revisions_are_found_by_primary_key() {
        assert_eq!(
            plan(FIND_CREDENTIAL),
            ["SEARCH c USING PRIMARY KEY (digest=?)", "SEARCH a USING PRIMARY KEY (id=?)"]
        );
        assert!(plan(FIND_CREDENTIAL_WITHOUT_REVISION)[0].ends_with(" USING PRIMARY KEY (digest=?)"));
        assert_eq!(plan(FIND_REVISION), ["SEARCH accounts USING PRIMARY KEY (id=?)"]);
        let lookup_step = "SEARCH revoked_tokens USING PRIMARY KEY (digest=?)";
        assert!(plan(IS_REVOKED).iter().any(|step| step == lookup_step), "{:?}", plan(IS_REVOKED));
    }

    #[test]
    fn readers_cannot_select_module_contents() {
        let storage = SqliteStorage::in_memory().unwrap();
        let reader = storage.readers.database().open_reader().unwrap();
        let refused = reader.prepare("SELECT content FROM module_contents").unwrap_err();
        assert!(refused.to_string().contains("prohibited"), "{refused}");
    }
}
