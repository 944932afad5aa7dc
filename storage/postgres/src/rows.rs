//! Rows as domain types.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use catalogue_core::admin::CredentialRecord;
use catalogue_core::auth::{Credential, CredentialKind, Identity, Scopes, TokenDigest};
use catalogue_core::storage::{CourseRow, CourseRows, Position, Revision, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::error::corrupt;
use crate::text::shown;

/// The value in `column`.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, StorageError> {
    row.try_get(column).map_err(corrupt)
}

/// A text that is shown, in `column`.
pub(crate) fn text(row: &Row, column: usize) -> Result<Cow<'_, str>, StorageError> {
    Ok(shown(get(row, column)?))
}

/// The same, to keep.
pub(crate) fn owned_text(row: &Row, column: usize) -> Result<String, StorageError> {
    Ok(text(row, column)?.into_owned())
}

/// A text that is shown, in `column`, or none.
pub(crate) fn optional_text(row: &Row, column: usize) -> Result<Option<String>, StorageError> {
    Ok(get::<Option<&str>>(row, column)?.map(|stored| shown(stored).into_owned()))
}

/// A time in `column`, in microseconds.
pub(crate) fn time(row: &Row, column: usize) -> Result<Timestamp, StorageError> {
    checked_time(get(row, column)?)
}

/// A time in `column`, or none.
pub(crate) fn optional_time(row: &Row, column: usize) -> Result<Option<Timestamp>, StorageError> {
    get::<Option<i64>>(row, column)?.map(checked_time).transpose()
}

fn checked_time(microseconds: i64) -> Result<Timestamp, StorageError> {
    Timestamp::from_microseconds(microseconds).ok_or_else(|| must_not(&format!("the time {microseconds}")))
}

pub(crate) fn must_not(what: &str) -> StorageError {
    StorageError::new(StorageErrorKind::Corrupt, format!("the database holds {what}, which it must not"))
}

/// Hands over `slugs, titles, languages, published, hidden, module counts, created`; nothing where they are null.
pub(crate) fn push_courses(row: &Row, rows: &mut CourseRows<'_>) -> Result<(), StorageError> {
    let Some(slugs) = get::<Option<Vec<Text<'_>>>>(row, 0)? else { return Ok(()) };
    let [titles, languages]: [Vec<Text<'_>>; 2] = [get(row, 1)?, get(row, 2)?];
    let (published, hidden): (Vec<Option<i64>>, Vec<bool>) = (get(row, 3)?, get(row, 4)?);
    let [modules, created]: [Vec<i64>; 2] = [get(row, 5)?, get(row, 6)?];
    for (number, Text(slug)) in slugs.into_iter().enumerate() {
        let [title, language] = [&titles, &languages].map(|texts| shown(texts[number].0));
        let modules = modules[number];
        let course = CourseRow {
            slug,
            title: &title,
            language: &language,
            published_at: published[number].map(checked_time).transpose()?,
            hidden: hidden[number],
            module_count: u32::try_from(modules).map_err(|_| must_not(&format!("the module count {modules}")))?,
        };
        let position = || Ok(Position { created_at: checked_time(created[number])?, slug: slug.to_owned() });
        if rows.try_push(course, position)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// A text of an array; the driver's own looks for other types by their names, for each.
struct Text<'r>(&'r str);

impl<'r> FromSql<'r> for Text<'r> {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(str::from_utf8(raw)?))
    }

    fn accepts(ty: &Type) -> bool {
        <&str as FromSql>::accepts(ty)
    }
}

/// `account_id, kind, id, scopes, digest` from that column on.
pub(crate) fn identity(row: &Row, first: usize) -> Result<Identity, StorageError> {
    let account = account_id(row, first)?;
    let scopes = Scopes::from_names([get(row, first + 3)?]);
    let kind: &str = get(row, first + 1)?;
    match CredentialKind::from_name(kind) {
        Some(CredentialKind::ApiKey) => Ok(Identity::api_key(account, get::<&str>(row, first + 2)?, scopes)),
        Some(CredentialKind::OAuth) => {
            let digest =
                get::<&[u8]>(row, first + 4)?.try_into().map_err(|_| must_not("a digest of another length"))?;
            Ok(Identity::oauth(account, &TokenDigest::from_bytes(digest), scopes))
        }
        _ => Err(must_not(&format!("the credential kind {kind:?}"))),
    }
}

/// Those of [`identity`], then `name, shown_prefix, created_at, expires_at, revoked_at, last_used_at, replaced_by`.
pub(crate) fn credential_record(row: &Row) -> Result<CredentialRecord, StorageError> {
    Ok(CredentialRecord {
        identity: identity(row, 0)?,
        name: optional_text(row, 5)?,
        shown_prefix: get(row, 6)?,
        created_at: time(row, 7)?,
        expires_at: optional_time(row, 8)?,
        revoked_at: optional_time(row, 9)?,
        last_used_at: optional_time(row, 10)?,
        replaced_by: get::<Option<&str>>(row, 11)?.map(Arc::from),
    })
}

/// Those of [`identity`], then `expires_at, revoked_at`, from that column on, and the revision in its own.
pub(crate) fn credential(row: &Row, first: usize, revised: usize) -> Result<Credential, StorageError> {
    let mut credential = Credential::new(identity(row, first)?);
    credential.expires_at = optional_time(row, first + 5)?;
    credential.revoked_at = optional_time(row, first + 6)?;
    credential.revision = revision(row, revised)?;
    Ok(credential)
}

/// An account's id in `column`.
pub(crate) fn account_id(row: &Row, column: usize) -> Result<AccountId, StorageError> {
    Ok(AccountId::new(get::<&str>(row, column)?))
}

/// A revision in `column`, or none.
pub(crate) fn revision(row: &Row, column: usize) -> Result<Option<Revision>, StorageError> {
    Ok(get::<Option<StoredRevision>>(row, column)?.map(|StoredRevision(bytes)| Revision::from_bytes(bytes)))
}

/// A UUID, or as many bytes.
struct StoredRevision([u8; 16]);

impl<'r> FromSql<'r> for StoredRevision {
    fn from_sql(_: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.try_into()?))
    }

    fn accepts(ty: &Type) -> bool {
        [Type::UUID, Type::BYTEA].contains(ty)
    }
}
