//! [`School`]: storage of the catalogue over the tables of a school.

use std::path::Path;

use catalogue_core::auth::{Credential, Identity, Scopes, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, PageRequest, Position, Revision, StorageError,
};
use catalogue_core::{AccountId, CourseDetail, CourseListItem, Module, Timestamp, async_trait};
use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, Transaction};

use crate::connections::Connections;

/// Position before all others in a list: no training is newer.
const NEWEST: (i64, &str) = (i64::MAX, "");

/// Courses and keys of a school.
#[derive(Clone, Debug)]
pub(crate) struct School(Connections);

impl School {
    /// Opens the school's file.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        Connections::open(path).map(Self)
    }
}

/// The school has no revisions, so `revision` is not implemented, and each response is rendered again.
#[async_trait]
impl CourseStorage for School {
    /// Reads the courses on another thread, and passes them to `rows` on the request's thread.
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        let (Some(user), page) = (user(account), page.clone()) else { return Ok(None) };
        for (course, created_at) in self.0.read(move |transaction| list(transaction, user, &page)).await? {
            let position = || Position { created_at, slug: course.slug.clone() };
            if rows.push(course.row(), position).is_break() {
                break;
            }
        }
        Ok(None)
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let (Some(user), slug) = (user(account), slug.to_owned()) else { return Ok(None.into()) };
        Ok(self.0.read(move |transaction| find(transaction, user, &slug)).await?.into())
    }
}

#[async_trait]
impl CredentialStorage for School {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        let digest = *digest;
        self.0.read(move |transaction| credential(transaction, &digest)).await
    }
}

/// Parses the id of an account as the school's numeric user id. Returns `None` if it is not a number.
fn user(account: &AccountId) -> Option<i64> {
    account.as_str().parse().ok()
}

/// Converts a position to a pair of second and handle. The courses after it in the list have smaller pairs.
fn sort_key(position: &Position) -> (i64, &str) {
    let made_at = position.created_at.as_microseconds();
    match made_at.div_euclid(1_000_000) {
        second if second * 1_000_000 == made_at => (second, &position.slug),
        // A position from another storage, within a second: all courses of that second come after it.
        second => (second + 1, ""),
    }
}

/// Returns the courses of a page and one more, each with its creation time.
fn list(
    transaction: &Transaction<'_>,
    user: i64,
    page: &PageRequest,
) -> rusqlite::Result<Vec<(CourseListItem, Timestamp)>> {
    let (made_at, handle) = page.after.as_ref().map_or(NEWEST, sort_key);
    let mut statement = transaction.prepare_cached(
        "SELECT handle, name, lang, status, live_since, made_at,
                (SELECT count(*) FROM lessons WHERE training = trainings.id) AS lessons
         FROM trainings WHERE owner = ?1 AND (made_at, handle) < (?2, ?3)
         ORDER BY made_at DESC, handle DESC LIMIT ?4",
    )?;
    let rows = statement.query_map((user, made_at, handle, page.rows() as i64), |row| {
        let item = CourseListItem {
            slug: row.get("handle")?,
            title: row.get("name")?,
            language: row.get("lang")?,
            published_at: published_at(row)?,
            hidden: is_hidden(row)?,
            module_count: row.get("lessons")?,
        };
        Ok((item, seconds(row, "made_at")?.ok_or(FromSqlError::InvalidType)?))
    })?;
    rows.collect()
}

fn find(transaction: &Transaction<'_>, user: i64, slug: &str) -> rusqlite::Result<Option<CourseDetail>> {
    let mut statement = transaction.prepare_cached(
        "SELECT id, handle, name, coalesce(subtitle, '') AS tagline, lang, status, live_since
         FROM trainings WHERE owner = ?1 AND handle = ?2",
    )?;
    let found = statement.query_row((user, slug), |row| {
        let course = CourseDetail {
            slug: row.get("handle")?,
            title: row.get("name")?,
            tagline: row.get("tagline")?,
            language: row.get("lang")?,
            published_at: published_at(row)?,
            hidden: is_hidden(row)?,
            access_mode: None,
            modules: Vec::new(),
        };
        Ok((row.get("id")?, course))
    });
    let Some((training, mut course)): Option<(i64, _)> = found.optional()? else { return Ok(None) };
    let mut statement = transaction.prepare_cached(
        "SELECT row_number() OVER (ORDER BY place) AS number, heading, coalesce(abstract, '') AS summary
         FROM lessons WHERE training = ?1 ORDER BY place",
    )?;
    let modules = statement.query_map([training], |row| {
        Ok(Module { number: row.get("number")?, title: row.get("heading")?, summary: row.get("summary")? })
    })?;
    course.modules = modules.collect::<rusqlite::Result<_>>()?;
    Ok(Some(course))
}

fn credential(transaction: &Transaction<'_>, digest: &TokenDigest) -> rusqlite::Result<Option<Credential>> {
    let mut statement =
        transaction.prepare_cached("SELECT id, user, rights, ends_at, ended_at FROM access_keys WHERE sha256 = ?1")?;
    let found = statement.query_row([digest.as_bytes()], |row| {
        let account = AccountId::new(row.get::<_, i64>("user")?.to_string());
        let id = row.get::<_, i64>("id")?.to_string();
        let scopes = Scopes::from_names([row.get_ref("rights")?.as_str()?]);
        let mut credential = Credential::new(Identity::api_key(account, id, scopes));
        credential.expires_at = seconds(row, "ends_at")?;
        credential.revoked_at = seconds(row, "ended_at")?;
        Ok(credential)
    });
    found.optional()
}

/// Returns `true` if the training is retired: then only its owner has access.
fn is_hidden(row: &Row<'_>) -> rusqlite::Result<bool> {
    Ok(row.get_ref("status")?.as_str()? == "retired")
}

/// Returns the time in `live_since`; `None` for drafts.
fn published_at(row: &Row<'_>) -> rusqlite::Result<Option<Timestamp>> {
    let Some(text) = row.get_ref("live_since")?.as_str_or_null()? else { return Ok(None) };
    let time = Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1)));
    time.map(Some).map_err(|error| FromSqlError::other(error).into())
}

/// Reads a time in seconds since 1970.
fn seconds(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let seconds: Option<i64> = row.get(column)?;
    let time = |seconds: i64| Timestamp::from_microseconds(seconds.checked_mul(1_000_000)?);
    seconds.map(|seconds| time(seconds).ok_or(FromSqlError::OutOfRange(seconds).into())).transpose()
}
