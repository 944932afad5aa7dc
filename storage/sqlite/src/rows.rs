//! Rows as domain types.

use catalogue_core::{
    AccountId, CourseListItem, CredentialKind, CredentialRecord, Identity, Position, Scopes, Timestamp,
};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

/// A [`Timestamp`] as microseconds.
pub(crate) struct Micros(pub(crate) Timestamp);

impl FromSql for Micros {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let microseconds = value.as_i64()?;
        Timestamp::from_microseconds(microseconds).map(Self).ok_or(FromSqlError::OutOfRange(microseconds))
    }
}

impl ToSql for Micros {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.0.as_microseconds().into())
    }
}

/// A time in `column`.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    Ok(row.get::<_, Micros>(column)?.0)
}

/// A time in `column`, or none.
pub(crate) fn optional_time(row: &Row<'_>, column: usize) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<Micros>>(column)?.map(|time| time.0))
}

/// `slug, title, language, published_at, hidden, module_count, created_at`.
pub(crate) fn list_item(row: &Row<'_>) -> Result<(CourseListItem, Position)> {
    let item = CourseListItem {
        slug: row.get(0)?,
        title: row.get(1)?,
        language: row.get(2)?,
        published_at: optional_time(row, 3)?,
        hidden: row.get(4)?,
        module_count: row.get(5)?,
    };
    let position = Position { created_at: time(row, 6)?, slug: item.slug.clone() };
    Ok((item, position))
}

/// `account_id, kind, id, scopes`.
pub(crate) fn identity(row: &Row<'_>) -> Result<Identity> {
    Ok(Identity {
        account: account_id(row, 0)?,
        kind: kind(row, 1)?,
        credential_id: row.get(2)?,
        scopes: Scopes::from_names(row.get_ref(3)?.as_str()?.split_ascii_whitespace()),
    })
}

/// The columns of [`identity`], then `name, shown_prefix, created_at, expires_at, revoked_at`.
pub(crate) fn credential_record(row: &Row<'_>) -> Result<CredentialRecord> {
    Ok(CredentialRecord {
        identity: identity(row)?,
        name: row.get(4)?,
        shown_prefix: row.get(5)?,
        created_at: time(row, 6)?,
        expires_at: optional_time(row, 7)?,
        revoked_at: optional_time(row, 8)?,
    })
}

/// An account's id in `column`.
pub(crate) fn account_id(row: &Row<'_>, column: usize) -> Result<AccountId> {
    Ok(AccountId::new(row.get_ref(column)?.as_str()?))
}

fn kind(row: &Row<'_>, column: usize) -> Result<CredentialKind> {
    let name = row.get_ref(column)?.as_str()?;
    let kind = CredentialKind::ALL.into_iter().find(|kind| kind.name() == name);
    Ok(kind.ok_or(FromSqlError::InvalidType)?)
}
