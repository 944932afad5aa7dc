//! Reads credentials, and changes them in the caller's transaction.

use catalogue_core::admin::{Accounts, CredentialRecord, CredentialUse, NewCredential, Visitor};
use catalogue_core::storage::{MAX_REMOVED, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::accounts::visit_rows;
use crate::columns::columns;
use crate::error::storage_error;
use crate::events::{REMOVE_OF_KEY, retained_since};
use crate::rows::{self, Micros, identity, optional_time, time};

const INSERT: &str = "INSERT INTO credentials \
     (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at, last_used_at, \
     replaced_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

/// When a credential ends: its revocation or expiry, whichever is earlier; a credential with neither sorts last.
macro_rules! end {
    () => {
        "min(ifnull(revoked_at, 9223372036854775807), ifnull(expires_at, 9223372036854775807))"
    };
}

columns!(record, record_columns: account_id, kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at,
    last_used_at, replaced_by);

/// Selects the credentials that are active at `?2`, and the `?3` most recently ended ones. The end is an indexed expression.
const LIST: &str = concat!(
    "SELECT ",
    record_columns!(),
    " FROM credentials WHERE account_id = ?1 AND ",
    end!(),
    " > ?2 UNION ALL SELECT * FROM (SELECT ",
    record_columns!(),
    " FROM credentials WHERE account_id = ?1 AND ",
    end!(),
    " <= ?2 ORDER BY ",
    end!(),
    " DESC, id DESC LIMIT ?3) ORDER BY created_at, id"
);

const ENDED: &str = concat!(
    "SELECT id FROM credentials WHERE account_id = ?1 AND ",
    end!(),
    " <= ?2 ORDER BY ",
    end!(),
    ", id LIMIT ?3"
);

const REMOVE: &str = "DELETE FROM credentials WHERE account_id = ?1 AND id = ?2";

const OF_ACCOUNT: &str =
    concat!("SELECT ", record_columns!(), " FROM credentials WHERE account_id = ?1 ORDER BY created_at, id");

const ALL: &str = concat!("SELECT ", record_columns!(), " FROM credentials ORDER BY account_id, created_at, id");

const FIND: &str = concat!("SELECT ", record_columns!(), " FROM credentials WHERE id = ?1");

const FIND_IN_ACCOUNT: &str =
    concat!("SELECT ", record_columns!(), " FROM credentials WHERE account_id = ?1 AND id = ?2");

pub(crate) const RENAME: &str = "UPDATE credentials SET name = ?3 WHERE account_id = ?1 AND id = ?2 AND name IS NOT ?3";

pub(crate) const REVOKE: &str =
    "UPDATE credentials SET revoked_at = ?3 WHERE account_id = ?1 AND id = ?2 AND revoked_at IS NULL";

/// Ends a credential at `?3` and sets its successor `?5`, if it is active at `?4` and has no successor.
const END: &str = "UPDATE credentials SET expires_at = min(coalesce(expires_at, ?3), ?3), replaced_by = ?5 \
     WHERE account_id = ?1 AND id = ?2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?4) \
     AND replaced_by IS NULL";

const RECORD_USE: &str = "UPDATE credentials SET last_used_at = ?3 \
     WHERE account_id = ?1 AND id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)";

const COUNT_KEYS: &str = "SELECT count(*) FROM credentials WHERE account_id = ?1 AND kind = 'api-key' \
     AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";

/// A credential after a change, and whether it was changed; `None` if there is no such credential.
pub(crate) type Changed = Option<(CredentialRecord, bool)>;

/// Returns the account's credentials that are active at `now`, and the `ended` most recently ended ones.
pub(crate) fn list(
    connection: &Connection,
    account: &AccountId,
    now: Timestamp,
    ended: usize,
) -> rusqlite::Result<Vec<CredentialRecord>> {
    let mut statement = connection.prepare(LIST)?;
    let ended = i64::try_from(ended).unwrap_or(i64::MAX);
    let records = statement.query_and_then(params![account.as_str(), Micros(now), ended], credential_record)?;
    records.collect()
}

/// Calls `visit` for each credential of `accounts`.
pub(crate) fn visit(
    connection: &Connection,
    accounts: Accounts<'_>,
    visit: &mut Visitor<'_, CredentialRecord>,
) -> rusqlite::Result<()> {
    let _transaction = connection.unchecked_transaction()?;
    visit_rows(connection, [ALL, OF_ACCOUNT], &[], &accounts, credential_record, visit).map(drop)
}

pub(crate) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<CredentialRecord>> {
    connection.query_row(FIND, [id], credential_record).optional()
}

pub(crate) fn find_in(
    connection: &Connection,
    account: &AccountId,
    id: &str,
) -> rusqlite::Result<Option<CredentialRecord>> {
    connection.query_row(FIND_IN_ACCOUNT, [account.as_str(), id], credential_record).optional()
}

/// Removes up to [`MAX_REMOVED`] of the account's credentials that are past retention at `now`, with their events.
pub(crate) fn remove_ended(connection: &Connection, account: &AccountId, now: Timestamp) -> Result<(), StorageError> {
    let remove = || {
        let values = params![account.as_str(), retained_since(now), MAX_REMOVED as i64];
        let mut ended = connection.prepare(ENDED)?;
        let ids: Vec<String> = ended.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
        for id in ids {
            connection.execute(REMOVE_OF_KEY, [account.as_str(), &id])?;
            connection.execute(REMOVE, [account.as_str(), &id])?;
        }
        Ok(())
    };
    remove().map_err(storage_error)
}

/// Ends the account's credential `id` and stores its successor. Returns `None` if it is missing, has ended, or was rotated.
pub(crate) fn rotate(
    connection: &Connection,
    account: &AccountId,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Result<Option<CredentialRecord>, StorageError> {
    let NewCredential { record, .. } = successor;
    let new_id = &record.identity.credential_id;
    let values = params![account.as_str(), id, Micros(ends_at), Micros(record.created_at), new_id];
    let ended = change(connection, account, id, END, values)?;
    let Some((ended, true)) = ended else { return Ok(None) };
    // At the earlier of both instants, the credential that was just ended is not past retention.
    remove_ended(connection, account, record.created_at.min(ends_at))?;
    insert(connection, successor)?;
    Ok(Some(ended))
}

/// Changes the account's credential `id` by [`RENAME`], [`REVOKE`] or [`END`], which skip a credential that needs no change.
pub(crate) fn change(
    connection: &Connection,
    account: &AccountId,
    id: &str,
    sql: &str,
    values: impl Params,
) -> Result<Changed, StorageError> {
    let run = || {
        let is_changed = connection.execute(sql, values)? > 0;
        let record = find_in(connection, account, id)?;
        Ok(record.map(|record| (record, is_changed)))
    };
    run().map_err(storage_error)
}

/// Records uses. Changes no row for a use before the last recorded one: a commit would invalidate all cached lookups.
pub(crate) fn record_uses(connection: &Connection, uses: &[CredentialUse]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(RECORD_USE)?;
    uses.iter().try_for_each(|CredentialUse { account, credential_id, at }| {
        statement.execute(params![account.as_str(), credential_id, Micros(*at)]).map(|_| ())
    })
}

/// Returns the number of the account's keys that are active at `now`.
pub(crate) fn count_keys(connection: &Connection, account: &str, now: Timestamp) -> rusqlite::Result<u64> {
    connection.query_row(COUNT_KEYS, params![account, Micros(now)], |row| rows::count(row, 0))
}

/// Stores a credential. The caller has checked that its account exists; if accounts are in this file, so does a foreign key.
pub(crate) fn insert(connection: &Connection, credential: &NewCredential) -> Result<(), StorageError> {
    let record = &credential.record;
    let identity = &record.identity;
    // Unique keys of the schema begin with the account, but an operator may revoke a key by its id only.
    if find(connection, &identity.credential_id).map_err(storage_error)?.is_some() {
        return Err(StorageError::new(StorageErrorKind::AlreadyExists, "a credential with this id already exists"));
    }
    let values = params![
        credential.digest.as_bytes(),
        identity.account.as_str(),
        identity.credential_id,
        identity.kind.name(),
        record.name,
        record.shown_prefix,
        identity.scopes.to_string(),
        Micros(record.created_at),
        record.expires_at.map(Micros),
        record.revoked_at.map(Micros),
        record.last_used_at.map(Micros),
        record.replaced_by,
    ];
    connection.execute(INSERT, values).map(|_| ()).map_err(storage_error)
}

fn credential_record(row: &Row<'_>) -> rusqlite::Result<CredentialRecord> {
    use record::{account_id, digest, id, kind, scopes};

    Ok(CredentialRecord {
        identity: identity(row, [account_id, kind, id, scopes, digest])?,
        name: row.get(record::name)?,
        shown_prefix: row.get(record::shown_prefix)?,
        created_at: time(row, record::created_at)?,
        expires_at: optional_time(row, record::expires_at)?,
        revoked_at: optional_time(row, record::revoked_at)?,
        last_used_at: optional_time(row, record::last_used_at)?,
        replaced_by: row.get(record::replaced_by)?,
    })
}

pub(crate) fn account_exists(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM accounts WHERE id = ?1")?.exists([id])
}

pub(crate) fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("no account {account:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn key_statements_use_account_index() {
        for sql in [FIND_IN_ACCOUNT, RENAME, REVOKE, END, RECORD_USE, REMOVE] {
            let steps: Vec<_> = plan(sql).into_iter().map(|step| step.replace("COVERING ", "")).collect();
            assert_eq!(
                steps,
                ["SEARCH credentials USING INDEX credentials_by_account (account_id=? AND id=?)"],
                "{sql}"
            );
        }
    }

    #[test]
    fn ended_keys_are_read_by_index_range() {
        let range = |bound: &str| {
            format!("SEARCH credentials USING INDEX credentials_by_end (account_id=? AND <expr>{bound}?)")
        };
        assert_eq!(plan(ENDED), [range("<").replace("INDEX", "COVERING INDEX")]);
        let steps = plan(LIST);
        let reads: Vec<_> =
            steps.iter().filter(|step| step.starts_with("SEARCH") || step.starts_with("SCAN c")).collect();
        assert_eq!(reads, [&range(">"), &range("<")], "{steps:?}");
        // Each half of the result is sorted, but not all ended keys.
        let sorts = steps.iter().filter(|step| step.contains("TEMP B-TREE"));
        assert_eq!(sorts.count(), 2, "{steps:?}");
    }
}
