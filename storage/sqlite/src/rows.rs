//! Rows as domain types.

use catalogue_core::admin::CredentialRecord;
use catalogue_core::auth::{CredentialKind, Identity, Scopes, TokenDigest};
use catalogue_core::storage::{CourseRow, Position};
use catalogue_core::{AccountId, Timestamp};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::kept_rows::KeptRow;

/// A [`Timestamp`] as microseconds.
pub(crate) struct Micros(pub(crate) Timestamp);

impl FromSql for Micros {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let microseconds = value.as_i64()?;
        Timestamp::from_microseconds(microseconds).map(Self).ok_or(FromSqlError::OutOfRange(microseconds))
    }
}

impl ToSql for Micros {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_microseconds().into())
    }
}

/// A time in `column`.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(row.get::<_, Micros>(column)?.0)
}

/// A time in `column`, or none.
pub(crate) fn optional_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<Micros>>(column)?.map(|time| time.0))
}

/// `module_count, hidden, published_at, language, title, slug`.
#[inline]
pub(crate) fn course<'k>(row: &KeptRow<'k>) -> rusqlite::Result<CourseRow<'k>> {
    Ok(CourseRow {
        slug: row.text(5)?,
        title: row.text(4)?,
        language: row.text(3)?,
        published_at: row.get::<Option<Micros>>(2)?.map(|time| time.0),
        hidden: row.get(1)?,
        module_count: row.get(0)?,
    })
}

/// Where a course stands in its list, of the same columns and `created_at`.
pub(crate) fn position(row: &KeptRow<'_>) -> rusqlite::Result<Position> {
    Ok(Position { created_at: row.get::<Micros>(6)?.0, slug: row.get(5)? })
}

/// `account_id, kind, id, scopes, digest`.
pub(crate) fn identity(row: &Row<'_>) -> rusqlite::Result<Identity> {
    let account = account_id(row, 0)?;
    let scopes = Scopes::from_names([row.get_ref(3)?.as_str()?]);
    match CredentialKind::from_name(row.get_ref(1)?.as_str()?) {
        Some(CredentialKind::ApiKey) => Ok(Identity::api_key(account, row.get_ref(2)?.as_str()?, scopes)),
        Some(CredentialKind::OAuth) => Ok(Identity::oauth(account, &TokenDigest::from_bytes(row.get(4)?), scopes)),
        _ => Err(FromSqlError::InvalidType.into()),
    }
}

/// Those of [`identity`], then `name, shown_prefix, created_at, expires_at, revoked_at, last_used_at, replaced_by`.
pub(crate) fn credential_record(row: &Row<'_>) -> rusqlite::Result<CredentialRecord> {
    Ok(CredentialRecord {
        identity: identity(row)?,
        name: row.get(5)?,
        shown_prefix: row.get(6)?,
        created_at: time(row, 7)?,
        expires_at: optional_time(row, 8)?,
        revoked_at: optional_time(row, 9)?,
        last_used_at: optional_time(row, 10)?,
        replaced_by: row.get(11)?,
    })
}

/// A number of rows in `column`.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or_default())
}

/// An account's id in `column`.
pub(crate) fn account_id(row: &Row<'_>, column: usize) -> rusqlite::Result<AccountId> {
    Ok(AccountId::new(row.get_ref(column)?.as_str()?))
}
