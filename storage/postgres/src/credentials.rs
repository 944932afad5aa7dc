//! Writing and listing credentials on the caller's connection. The caller commits the transaction of a write, if there is one.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use catalogue_core::admin::{Accounts, CredentialRecord, CredentialUse, NewCredential, Visitor};
use catalogue_core::storage::{MAX_REMOVED, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::accounts::{Pages, check_account};
use crate::citus;
use crate::citus::credentials::{INSERT_ACCOUNT_OF_DIGEST, REMOVE_ACCOUNTS_OF_CREDENTIALS};
use crate::connection::{Connection, Sql, Values};
use crate::events::{REMOVE_OF_KEYS, retained_since};
use crate::rows::{column, credential_record, get};
use crate::text::{can_be_stored, check_storable, storable, stored};

const BYTEA: Type = Type::BYTEA;
const INT8: Type = Type::INT8;
const TEXT: Type = Type::TEXT;

const INSERT: Sql = Sql {
    text: "INSERT INTO credentials \
           (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at, last_used_at, \
           replaced_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    types: &[BYTEA, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, INT8, INT8, INT8, INT8, TEXT],
};

/// Credentials that are active at `$2`, and the `$3` most recently ended ones. The end is an indexed expression.
/// An account without active credentials yields one row of nulls.
pub(crate) const LIST: Sql = Sql {
    text: "SELECT c.* FROM accounts AS a LEFT JOIN credentials AS c ON c.account_id = $1 AND \
           least(coalesce(c.revoked_at, 9223372036854775807), coalesce(c.expires_at, 9223372036854775807)) > $2 \
           WHERE a.id = $1 UNION ALL \
           (SELECT * FROM credentials WHERE account_id = $1 AND \
           least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)) <= $2 \
           ORDER BY least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)) DESC, \
           id DESC LIMIT $3)",
    types: &[TEXT, INT8, INT8],
};

/// Ordered, so that processes that remove the same keys wait for each other instead of deadlocking.
const ENDED: Sql = Sql {
    text: "SELECT id, digest FROM credentials WHERE account_id = $1 AND \
           least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)) <= $2 \
           ORDER BY least(coalesce(revoked_at, 9223372036854775807), coalesce(expires_at, 9223372036854775807)), id \
           LIMIT $3 FOR UPDATE",
    types: &[TEXT, INT8, INT8],
};

const REMOVE: Sql =
    Sql { text: "DELETE FROM credentials WHERE account_id = $1 AND id = ANY($2)", types: &[TEXT, Type::TEXT_ARRAY] };

pub(crate) const FIND_IN_ACCOUNT: Sql =
    Sql { text: "SELECT * FROM credentials WHERE account_id = $1 AND id = $2", types: &[TEXT, TEXT] };

const OF_ACCOUNTS: Sql = Sql {
    text: "SELECT * FROM credentials WHERE account_id = ANY($1) ORDER BY account_id, created_at, id",
    types: &[Type::TEXT_ARRAY],
};

const FIND: Sql = Sql { text: "SELECT * FROM credentials WHERE id = $1", types: &[TEXT] };

pub(crate) const RENAME: Sql = Sql {
    text: "UPDATE credentials SET name = $3 WHERE account_id = $1 AND id = $2 AND name IS DISTINCT FROM $3 RETURNING *",
    types: &[TEXT, TEXT, TEXT],
};

pub(crate) const REVOKE: Sql = Sql {
    text: "UPDATE credentials SET revoked_at = $3 WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL RETURNING *",
    types: &[TEXT, TEXT, INT8],
};

/// Ends a credential that is active at `$4` and has no successor.
const END: Sql = Sql {
    text: "UPDATE credentials SET expires_at = least(coalesce(expires_at, $3), $3), replaced_by = $5 \
           WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $4) \
           AND replaced_by IS NULL RETURNING *",
    types: &[TEXT, TEXT, INT8, INT8, TEXT],
};

pub(crate) const FIND_ACCOUNT: Sql = Sql { text: "SELECT id FROM accounts WHERE id = $1", types: &[TEXT] };

/// Ordered, so that processes that record uses of the same credentials wait for each other instead of deadlocking.
const LOCK_USED: Sql = Sql {
    text: "SELECT id FROM credentials WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE",
    types: &[Type::TEXT_ARRAY],
};

const RECORD_USES: Sql = Sql {
    text: "UPDATE credentials AS c SET last_used_at = used.at \
           FROM unnest($1, $2, $3) AS used (account_id, id, at) \
           WHERE c.account_id = used.account_id AND c.id = used.id \
           AND (c.last_used_at IS NULL OR c.last_used_at < used.at)",
    types: &[Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::INT8_ARRAY],
};

/// A credential, and whether the call has changed it.
pub(crate) type Changed = (CredentialRecord, bool);

/// Converts the rows of [`LIST`] to an account's credentials, sorted by creation time; `None` if the account does not exist.
pub(crate) fn listed(rows: &[Row]) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
    let mut records = Vec::new();
    for row in rows {
        if get::<Option<&str>>(row, "id")?.is_some() {
            records.push(credential_record(row)?);
        }
    }
    records.sort_by(|one, other| {
        let created = one.created_at.cmp(&other.created_at);
        created.then_with(|| one.identity.credential_id.cmp(&other.identity.credential_id))
    });
    Ok((!rows.is_empty()).then_some(records))
}

/// Visits the credentials of `accounts`, reading a page of accounts at a time.
pub(crate) async fn visit(
    connection: &Connection,
    accounts: Accounts<'_>,
    of_accounts: [Sql<'_>; 2],
    visit: &mut Visitor<'_, CredentialRecord>,
) -> Result<(), StorageError> {
    let mut pages = Pages::begin(connection, accounts, of_accounts).await?;
    loop {
        let page = pages.next().await?;
        let ids: Vec<&str> = page.iter().map(|account| account.id.as_str()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for row in connection.query(&OF_ACCOUNTS, &[&ids]).await? {
            if visit(credential_record(&row)?) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
}

/// Returns the credential `id`.
pub(crate) async fn find(connection: &Connection, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
    if connection.is_distributed {
        return citus::credentials::find(connection, id).await?.first().map(credential_record).transpose();
    }
    first(connection, &FIND, &[&id]).await
}

/// Changes the account's credential `id` by [`RENAME`] or [`REVOKE`], which match no row if nothing would change.
pub(crate) async fn change(
    connection: &Connection,
    account: &str,
    id: &str,
    sql: &Sql<'_>,
    values: Values<'_>,
) -> Result<Option<Changed>, StorageError> {
    if let Some(changed) = first(connection, sql, values).await? {
        return Ok(Some((changed, true)));
    }
    let found = find(connection, id).await?.filter(|found| found.identity.account.as_str() == account);
    Ok(found.map(|found| (found, false)))
}

/// Ends the credential `id` and stores its successor.
pub(crate) async fn rotate(
    connection: &Connection,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
    find_account: &Sql<'_>,
) -> Result<Option<CredentialRecord>, StorageError> {
    let CredentialRecord { identity, created_at, .. } = &successor.record;
    if !can_be_stored(identity.account.as_str()) {
        return Ok(None);
    }
    check_storable([&*identity.credential_id])?;
    let before = ends_at.min(*created_at);
    let (ends_at, created_at) = (ends_at.as_microseconds(), created_at.as_microseconds());
    let (account, successor_id) = (identity.account.as_str(), &*identity.credential_id);
    let ended = first(connection, &END, &[&account, &id, &ends_at, &created_at, &successor_id]).await?;
    if ended.is_some() {
        // At `before`, the credential that has just ended is not past retention.
        remove_ended(connection, &identity.account, before).await?;
        insert(connection, successor, find_account).await?;
    }
    Ok(ended)
}

/// Removes up to [`MAX_REMOVED`] of the account's credentials that are past retention at `now`, with their events.
pub(crate) async fn remove_ended(
    connection: &Connection,
    account: &AccountId,
    now: Timestamp,
) -> Result<(), StorageError> {
    let Some([account]) = storable([account.as_str()]) else { return Ok(()) };
    let values: Values<'_> = &[&account, &retained_since(now), &(MAX_REMOVED as i64)];
    let ended = connection.query(&ENDED, values).await?;
    if ended.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = column(&ended)?;
    if connection.is_distributed {
        let digests: Vec<&[u8]> = ended.iter().map(|row| get(row, "digest")).collect::<Result<_, _>>()?;
        connection.execute(&REMOVE_ACCOUNTS_OF_CREDENTIALS, &[&digests]).await?;
    }
    connection.execute(&REMOVE_OF_KEYS, &[&account, &ids]).await?;
    connection.execute(&REMOVE, &[&account, &ids]).await.map(|_| ())
}

/// Records uses. Skips ids that cannot be stored: no credential has them.
pub(crate) async fn record_uses(connection: &Connection, uses: &[CredentialUse]) -> Result<Option<()>, StorageError> {
    let mut latest = BTreeMap::new();
    for CredentialUse { account, credential_id, at } in uses {
        if can_be_stored(account.as_str()) && can_be_stored(credential_id) {
            let recorded = latest.entry((account.as_str(), &**credential_id)).or_insert(*at);
            *recorded = (*recorded).max(*at);
        }
    }
    if connection.is_distributed {
        return citus::credentials::record_uses(connection, &latest).await.map(Some);
    }
    let (accounts, ids): (Vec<&str>, Vec<&str>) = latest.keys().copied().unzip();
    let times: Vec<i64> = latest.values().map(|at| at.as_microseconds()).collect();
    connection.query(&LOCK_USED, &[&ids]).await?;
    connection.execute(&RECORD_USES, &[&accounts, &ids, &times]).await.map(|_| Some(()))
}

/// Returns the record in the first row, if any.
async fn first(
    connection: &Connection,
    sql: &Sql<'_>,
    values: Values<'_>,
) -> Result<Option<CredentialRecord>, StorageError> {
    let rows = connection.query(sql, values).await?;
    rows.first().map(credential_record).transpose()
}

pub(crate) async fn insert(
    connection: &Connection,
    credential: &NewCredential,
    find_account: &Sql<'_>,
) -> Result<Option<()>, StorageError> {
    let record = &credential.record;
    let identity = &record.identity;
    let (id, scopes) = (&*identity.credential_id, identity.scopes.to_string());
    check_account(connection, &identity.account, find_account).await?;
    check_storable([id, &record.shown_prefix, &scopes].into_iter().chain(record.replaced_by.as_deref()))?;
    let name = record.name.as_deref().map(stored);
    let (digest, account) = (credential.digest.as_bytes().as_slice(), identity.account.as_str());
    // The schema guarantees unique ids only within an account, but administration finds credentials by id only.
    if find(connection, id).await?.is_some() {
        return Err(StorageError::new(StorageErrorKind::AlreadyExists, "a credential with this id already exists"));
    }
    if connection.is_distributed {
        connection.execute(&INSERT_ACCOUNT_OF_DIGEST, &[&digest, &account, &id]).await?;
    }
    let times = [Some(record.created_at), record.expires_at, record.revoked_at, record.last_used_at];
    let [created_at, expires_at, revoked_at, last_used_at] = times.map(|time| time.map(Timestamp::as_microseconds));
    let values: Values<'_> = &[
        &digest,
        &account,
        &id,
        &identity.kind.name(),
        &name,
        &record.shown_prefix,
        &scopes,
        &created_at,
        &expires_at,
        &revoked_at,
        &last_used_at,
        &record.replaced_by.as_deref(),
    ];
    connection.execute(&INSERT, values).await.map(|_| Some(()))
}
