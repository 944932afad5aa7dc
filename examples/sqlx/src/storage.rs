//! [`Storage`]: the platform's courses and API keys, as the catalogue reads them.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::{Credential, Identity, Scopes, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRow, CourseRows, CourseStorage, CredentialStorage, PageRequest, Position, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, CourseDetail, Module, Timestamp, async_trait};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{Error, Result, Row};

/// Reads of the API over the tables in `schema.sql`. The id of an account is the id of a user.
///
/// Each read also returns the user's revision, from the same statement as the data or its snapshot. So the catalogue caches
/// responses.
#[derive(Clone, Debug)]
pub struct Storage(pub SqlitePool);

#[async_trait]
impl CourseStorage for Storage {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.list(account, page, rows).await.map_err(failed)
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        self.find(account, slug).await.map_err(failed)
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let user = sqlx::query("SELECT revision FROM users WHERE id = ?").bind(user_id(account));
        let found = user.try_map(|row| revision(&row)).fetch_optional(&self.0).await;
        Ok(found.map_err(failed)?.flatten())
    }
}

#[async_trait]
impl CredentialStorage for Storage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let key = sqlx::query(
            "SELECT api_keys.id, user_id, scopes, expires_at, revoked_at, revision
             FROM api_keys JOIN users ON users.id = user_id WHERE digest = ?",
        );
        let key = key.bind(&digest.as_bytes()[..]).try_map(|row: SqliteRow| {
            let account = AccountId::new(row.try_get::<i64, _>("user_id")?.to_string());
            let scopes = Scopes::from_names([row.try_get("scopes")?]);
            let mut key = Credential::new(Identity::api_key(account, row.try_get::<&str, _>("id")?, scopes));
            key.expires_at = row.try_get::<Option<_>, _>("expires_at")?.map(time).transpose()?;
            key.revoked_at = row.try_get::<Option<_>, _>("revoked_at")?.map(time).transpose()?;
            key.revision = revision(&row)?;
            Ok(key)
        });
        key.fetch_optional(&self.0).await.map_err(failed)
    }
}

impl Storage {
    /// Passes a page of the list to `rows`: newest first, ties by slug, descending. The page starts after a position, not
    /// at an offset, so that a new course does not shift it. Returns the revision, or `None` for a page without courses.
    async fn list(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>> {
        let after = page.after.as_ref();
        let courses = sqlx::query(
            "SELECT slug, title, language, published_at, hidden, created_at, revision,
                    (SELECT count(*) FROM lessons WHERE course_id = courses.id) AS module_count
             FROM courses JOIN users ON users.id = user_id WHERE user_id = ? AND (created_at, slug) < (?, ?)
             ORDER BY created_at DESC, slug DESC LIMIT ?",
        )
        .bind(user_id(account))
        .bind(after.map_or(i64::MAX, |position| position.created_at.as_microseconds()))
        .bind(after.map_or("", |position| &position.slug))
        .bind(page.rows() as i64);
        let found = courses.fetch_all(&self.0).await?;
        for row in &found {
            let course = CourseRow {
                slug: row.try_get("slug")?,
                title: row.try_get("title")?,
                language: row.try_get("language")?,
                published_at: row.try_get::<Option<_>, _>("published_at")?.map(time).transpose()?,
                hidden: row.try_get("hidden")?,
                module_count: row.try_get("module_count")?,
            };
            let position = || {
                let created_at = time(row.try_get("created_at")?)?;
                Ok::<_, Error>(Position { created_at, slug: row.try_get("slug")? })
            };
            if rows.try_push(course, position)?.is_break() {
                break;
            }
        }
        Ok(found.first().map(revision).transpose()?.flatten())
    }

    /// Returns a course with its modules and the revision. Both queries read the same snapshot.
    async fn find(&self, account: &AccountId, slug: &str) -> Result<AtRevision<Option<CourseDetail>>> {
        let mut snapshot = self.0.begin().await?;
        let course = sqlx::query(
            "SELECT courses.*, revision FROM courses JOIN users ON users.id = user_id WHERE user_id = ? AND slug = ?",
        );
        let course = course.bind(user_id(account)).bind(slug).fetch_optional(&mut *snapshot).await?;
        let Some(course) = course else { return Ok(None.into()) };
        let modules = sqlx::query("SELECT title, summary FROM lessons WHERE course_id = ? ORDER BY position")
            .bind(course.try_get::<i64, _>("id")?)
            .fetch_all(&mut *snapshot)
            .await?;
        let module = |(number, row): (u32, SqliteRow)| {
            Ok(Module { number, title: row.try_get("title")?, summary: row.try_get("summary")? })
        };
        let detail = CourseDetail {
            slug: course.try_get("slug")?,
            title: course.try_get("title")?,
            tagline: course.try_get("tagline")?,
            language: course.try_get("language")?,
            published_at: course.try_get::<Option<_>, _>("published_at")?.map(time).transpose()?,
            hidden: course.try_get("hidden")?,
            access_mode: course.try_get("access_mode")?,
            modules: (1..).zip(modules).map(module).collect::<Result<_>>()?,
        };
        Ok(AtRevision { value: Some(detail), revision: revision(&course)? })
    }

    /// Stores a new key. [`NewCredential::api_key`] creates it, together with the token for its owner.
    pub async fn insert_key(&self, key: &NewCredential) -> Result<()> {
        let NewCredential { digest, record } = key;
        sqlx::query(
            "INSERT INTO api_keys (id, user_id, name, digest, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&*record.identity.credential_id)
        .bind(user_id(&record.identity.account))
        .bind(&record.name)
        .bind(&digest.as_bytes()[..])
        .bind(record.identity.scopes.to_string())
        .bind(record.created_at.as_microseconds())
        .bind(record.expires_at.map(Timestamp::as_microseconds))
        .execute(&self.0)
        .await?;
        Ok(())
    }
}

/// Parses the id of an account. `None`, which equals no user's id in SQL, if it is not a number.
fn user_id(account: &AccountId) -> Option<i64> {
    account.as_str().parse().ok()
}

/// Reads the column `revision`.
fn revision(row: &SqliteRow) -> Result<Option<Revision>> {
    let bytes: Option<&[u8]> = row.try_get("revision")?;
    let revision = bytes.map(|bytes| bytes.try_into().map(Revision::from_bytes)).transpose();
    revision.map_err(|_| Error::Decode("a revision does not have 16 bytes".into()))
}

/// Converts a stored time, in microseconds since 1970.
fn time(microseconds: i64) -> Result<Timestamp> {
    let time = Timestamp::from_microseconds(microseconds);
    time.ok_or_else(|| Error::Decode(format!("{microseconds} is not in the years 0 to 9999").into()))
}

/// Returns an error whose cause goes to the log; the client gets a neutral 500.
fn failed(cause: Error) -> StorageError {
    StorageError::new(StorageErrorKind::Unavailable, "cannot read the platform's tables").with_source(cause)
}
