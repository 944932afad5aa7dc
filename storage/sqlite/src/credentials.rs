//! Writing credentials, in a transaction that the caller has begun, and listing them.

use catalogue_core::admin::{CredentialRecord, CredentialUse, NewCredential, Visitor};
use catalogue_core::auth::Identity;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::accounts::visit_rows;
use crate::error::storage_error;
use crate::rows::{Micros, credential_record};
use crate::write::WriteTransaction;

const INSERT: &str = "INSERT INTO credentials \
     (digest, account_id, id, kind, name, shown_prefix, scopes, created_at, expires_at, revoked_at, last_used_at, \
     replaced_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

const LIST: &str = "SELECT account_id, kind, id, scopes, digest, name, shown_prefix, created_at, \
     expires_at, revoked_at, last_used_at, replaced_by FROM credentials WHERE account_id = ?1 ORDER BY created_at, id";

const ALL: &str = "SELECT account_id, kind, id, scopes, digest, name, shown_prefix, created_at, \
     expires_at, revoked_at, last_used_at, replaced_by FROM credentials ORDER BY account_id, created_at, id";

const FIND: &str = "SELECT account_id, kind, id, scopes, digest, name, shown_prefix, created_at, \
     expires_at, revoked_at, last_used_at, replaced_by FROM credentials WHERE id = ?1";

const REVOKE: &str = "UPDATE credentials SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 RETURNING account_id, \
     kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at, last_used_at, replaced_by";

/// Of one that still holds at an instant, and has no successor.
const END: &str = "UPDATE credentials SET expires_at = min(coalesce(expires_at, ?3), ?3), replaced_by = ?5 \
     WHERE account_id = ?1 AND id = ?2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?4) \
     AND replaced_by IS NULL \
     RETURNING account_id, kind, id, scopes, digest, name, shown_prefix, created_at, expires_at, revoked_at, \
     last_used_at, replaced_by";

const NOTE_USE: &str = "UPDATE credentials SET last_used_at = ?3 \
     WHERE account_id = ?1 AND id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)";

/// Stores a credential.
pub(crate) fn create(transaction: WriteTransaction, credential: &NewCredential) -> Result<(), StorageError> {
    insert(&transaction, credential)?;
    transaction.commit()
}

/// The credentials of an account, or `None` when there is no such account.
pub(crate) fn list(connection: &Connection, account: &AccountId) -> rusqlite::Result<Option<Vec<CredentialRecord>>> {
    if !account_exists(connection, account.as_str())? {
        return Ok(None);
    }
    let mut statement = connection.prepare(LIST)?;
    let records = statement.query_and_then([account.as_str()], credential_record)?;
    records.collect::<Result<_, _>>().map(Some)
}

/// The credentials of all accounts.
pub(crate) fn visit_all(connection: &Connection, visit: &mut Visitor<'_, CredentialRecord>) -> rusqlite::Result<()> {
    visit_rows(connection, ALL, [], credential_record, visit).map(|_| ())
}

/// The credential with that id.
pub(crate) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<CredentialRecord>> {
    connection.query_row(FIND, [id], credential_record).optional()
}

/// Revokes the credential with that id.
pub(crate) fn revoke(
    transaction: WriteTransaction,
    id: &str,
    at: Timestamp,
) -> Result<Option<CredentialRecord>, StorageError> {
    let revoked = transaction.query_row(REVOKE, params![id, Micros(at)], credential_record);
    let revoked = revoked.optional().map_err(storage_error)?;
    transaction.commit()?;
    Ok(revoked)
}

/// Ends the credential with that id and stores its successor.
pub(crate) fn rotate(
    transaction: WriteTransaction,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Result<Option<CredentialRecord>, StorageError> {
    let record = &successor.record;
    let Identity { account, credential_id, .. } = &record.identity;
    let values = params![account.as_str(), id, Micros(ends_at), Micros(record.created_at), credential_id];
    let ended = transaction.query_row(END, values, credential_record).optional().map_err(storage_error)?;
    if ended.is_some() {
        insert(&transaction, successor)?;
        transaction.commit()?;
    }
    Ok(ended)
}

/// Notes uses. Where all of them are known, nothing is committed, which would end what is cached of look-ups.
pub(crate) fn note_uses(transaction: WriteTransaction, uses: &[CredentialUse]) -> Result<(), StorageError> {
    let note = || {
        let mut statement = transaction.prepare(NOTE_USE)?;
        uses.iter().try_for_each(|CredentialUse { account, credential_id, at }| {
            statement.execute(params![account.as_str(), credential_id, Micros(*at)]).map(|_| ())
        })
    };
    note().map_err(storage_error)?;
    transaction.commit()
}

fn insert(transaction: &WriteTransaction, credential: &NewCredential) -> Result<(), StorageError> {
    let record = &credential.record;
    let identity = &record.identity;
    if !account_exists(transaction, identity.account.as_str()).map_err(storage_error)? {
        return Err(unknown_account(&identity.account));
    }
    // The schema could hold ids to be unique within an account only; a revocation names no account.
    if find(transaction, &identity.credential_id).map_err(storage_error)?.is_some() {
        return Err(StorageError::new(StorageErrorKind::AlreadyThere, "there is a credential with this id already"));
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
    transaction.execute(INSERT, values).map(|_| ()).map_err(storage_error)
}

pub(crate) fn account_exists(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM accounts WHERE id = ?1")?.exists([id])
}

pub(crate) fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("there is no account {account:?}"))
}
