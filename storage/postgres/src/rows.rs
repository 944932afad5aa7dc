//! Conversion of rows to domain types.

use std::fmt;
use std::sync::Arc;

use catalogue_core::admin::{Account, CredentialRecord};
use catalogue_core::auth::{Credential, CredentialKind, Identity, Scopes, TokenDigest};
use catalogue_core::storage::{CourseRow, CourseRows, Position, Revision, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::error::corrupt;
use crate::text::displayed;

/// The name or the position of a column.
pub(crate) trait Column: RowIndex + fmt::Display {}

impl<C: RowIndex + fmt::Display> Column for C {}

/// Returns the value in `column`.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: impl Column) -> Result<T, StorageError> {
    row.try_get(column).map_err(corrupt)
}

/// Returns the values of the first column.
pub(crate) fn column<'r, T: FromSql<'r>>(rows: &'r [Row]) -> Result<Vec<T>, StorageError> {
    rows.iter().map(|row| get(row, 0)).collect()
}

/// Returns the displayed text in `column`.
pub(crate) fn owned_text(row: &Row, column: impl Column) -> Result<String, StorageError> {
    Ok(displayed(get(row, column)?).into_owned())
}

/// Returns the displayed text in `column`, or `None` if it is null.
pub(crate) fn optional_text(row: &Row, column: impl Column) -> Result<Option<String>, StorageError> {
    Ok(get::<Option<&str>>(row, column)?.map(|stored| displayed(stored).into_owned()))
}

/// Returns the time in `column`, stored in microseconds.
pub(crate) fn time(row: &Row, column: impl Column) -> Result<Timestamp, StorageError> {
    checked_time(get(row, column)?)
}

/// Returns the time in `column`, or `None` if it is null.
pub(crate) fn optional_time(row: &Row, column: impl Column) -> Result<Option<Timestamp>, StorageError> {
    get::<Option<i64>>(row, column)?.map(checked_time).transpose()
}

fn checked_time(microseconds: i64) -> Result<Timestamp, StorageError> {
    Timestamp::from_microseconds(microseconds).ok_or_else(|| invalid_value(&format!("time {microseconds}")))
}

pub(crate) fn invalid_value(what: &str) -> StorageError {
    StorageError::new(StorageErrorKind::Corrupt, format!("the database contains an invalid value: {what}"))
}

/// Pushes the courses of a page, which is one row of arrays.
pub(crate) fn push_courses(row: &Row, rows: &mut CourseRows<'_>) -> Result<(), StorageError> {
    let slugs: Vec<&str> = get(row, "slugs")?;
    let [titles, languages]: [Vec<&str>; 2] = [get(row, "titles")?, get(row, "languages")?];
    let (published, hidden): (Vec<Option<i64>>, Vec<bool>) = (get(row, "published")?, get(row, "hidden")?);
    let [modules, created]: [Vec<i64>; 2] = [get(row, "module_counts")?, get(row, "created")?];
    for (number, slug) in slugs.into_iter().enumerate() {
        let [title, language] = [&titles, &languages].map(|texts| displayed(texts[number]));
        let modules = modules[number];
        let course = CourseRow {
            slug,
            title: &title,
            language: &language,
            published_at: published[number].map(checked_time).transpose()?,
            hidden: hidden[number],
            module_count: u32::try_from(modules).map_err(|_| invalid_value(&format!("module count {modules}")))?,
        };
        let position = || Ok(Position { created_at: checked_time(created[number])?, slug: slug.to_owned() });
        if rows.try_push(course, position)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Converts a row whose first columns are `id, name, email`.
pub(crate) fn account(row: &Row) -> Result<Account, StorageError> {
    let [id, name, email] = [0, 1, 2];
    Ok(Account { id: account_id(row, id)?, name: owned_text(row, name)?, email: owned_text(row, email)? })
}

fn identity(row: &Row) -> Result<Identity, StorageError> {
    let account = account_id(row, "account_id")?;
    let scopes = Scopes::from_names([get(row, "scopes")?]);
    let kind: &str = get(row, "kind")?;
    match CredentialKind::from_name(kind) {
        Some(CredentialKind::ApiKey) => Ok(Identity::api_key(account, get::<&str>(row, "id")?, scopes)),
        Some(CredentialKind::OAuth) => {
            let digest =
                get::<&[u8]>(row, "digest")?.try_into().map_err(|_| invalid_value("digest of another length"))?;
            Ok(Identity::oauth(account, &TokenDigest::from_bytes(digest), scopes))
        }
        Some(CredentialKind::Session) | None => Err(invalid_value(&format!("credential kind {kind:?}"))),
    }
}

/// Converts a row to everything stored about a credential.
pub(crate) fn credential_record(row: &Row) -> Result<CredentialRecord, StorageError> {
    Ok(CredentialRecord {
        identity: identity(row)?,
        name: optional_text(row, "name")?,
        shown_prefix: get(row, "shown_prefix")?,
        created_at: time(row, "created_at")?,
        expires_at: optional_time(row, "expires_at")?,
        revoked_at: optional_time(row, "revoked_at")?,
        last_used_at: optional_time(row, "last_used_at")?,
        replaced_by: get::<Option<&str>>(row, "replaced_by")?.map(Arc::from),
    })
}

/// Converts a row to a credential without its account's revision.
pub(crate) fn credential(row: &Row) -> Result<Credential, StorageError> {
    let mut credential = Credential::new(identity(row)?);
    credential.expires_at = optional_time(row, "expires_at")?;
    credential.revoked_at = optional_time(row, "revoked_at")?;
    Ok(credential)
}

/// Returns the account id in `column`.
pub(crate) fn account_id(row: &Row, column: impl Column) -> Result<AccountId, StorageError> {
    Ok(AccountId::new(get::<&str>(row, column)?))
}

/// Returns the revision in `column`, or `None` if it is null.
pub(crate) fn revision(row: &Row, column: impl Column) -> Result<Option<Revision>, StorageError> {
    Ok(get::<Option<Uuid>>(row, column)?.map(|revision| Revision::from_bytes(revision.into_bytes())))
}
