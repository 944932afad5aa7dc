//! Conversion of rows and values to domain types.

use catalogue_core::auth::{CredentialKind, Identity, Scopes, TokenDigest};
use catalogue_core::{AccountId, Timestamp};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

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

pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(row.get::<_, Micros>(column)?.0)
}

pub(crate) fn optional_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<Micros>>(column)?.map(|time| time.0))
}

/// Returns the identity of a row's credential, by the positions of `account_id`, `kind`, `id`, `scopes` and `digest`.
pub(crate) fn identity(row: &Row<'_>, [account, kind, id, scopes, digest]: [usize; 5]) -> rusqlite::Result<Identity> {
    let account = account_id(row, account)?;
    let scopes = Scopes::from_names([row.get_ref(scopes)?.as_str()?]);
    match CredentialKind::from_name(row.get_ref(kind)?.as_str()?) {
        Some(CredentialKind::ApiKey) => Ok(Identity::api_key(account, row.get_ref(id)?.as_str()?, scopes)),
        Some(CredentialKind::OAuth) => Ok(Identity::oauth(account, &TokenDigest::from_bytes(row.get(digest)?), scopes)),
        Some(CredentialKind::Session) | None => Err(FromSqlError::InvalidType.into()),
    }
}

pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or_default())
}

pub(crate) fn account_id(row: &Row<'_>, column: usize) -> rusqlite::Result<AccountId> {
    Ok(AccountId::new(row.get_ref(column)?.as_str()?))
}
