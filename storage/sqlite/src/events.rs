//! Event log of an account: changes of its keys, and sign-ins.

use std::sync::Arc;

use catalogue_core::storage::{
    Actor, CredentialAction, CredentialEvent, MAX_REMOVED, MAX_RENAMES, RETENTION, StorageError,
};
use catalogue_core::{AccountId, Timestamp};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, params};

use crate::columns::columns;
use crate::error::storage_error;
use crate::rows::{Micros, account_id, time};

const INSERT: &str = "INSERT INTO credential_events (account_id, id, at, action, actor, credential_id, name) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

columns!(listed, listed_columns: account_id, id, at, action, actor, credential_id, name);

const LIST: &str =
    concat!("SELECT ", listed_columns!(), " FROM credential_events WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2");

/// Removes all events of a key.
pub(crate) const REMOVE_OF_KEY: &str = "DELETE FROM credential_events WHERE account_id = ?1 AND id IN \
     (SELECT id FROM credential_events WHERE account_id = ?1 AND credential_id = ?2)";

/// Removes all but the last `?3` rename events of a key. The `+` keeps SQLite from scanning the whole account for the order.
const LIMIT_RENAMES: &str = "DELETE FROM credential_events WHERE account_id = ?1 AND id IN \
     (SELECT id FROM credential_events WHERE account_id = ?1 AND credential_id = ?2 AND action = 'key_renamed' \
     ORDER BY +id DESC LIMIT -1 OFFSET ?3)";

/// Removes up to `?3` sign-in events, which belong to no key, until the instant `?2`.
const REMOVE_OLD: &str = "DELETE FROM credential_events WHERE account_id = ?1 AND id IN \
     (SELECT id FROM credential_events WHERE account_id = ?1 AND credential_id IS NULL AND at <= ?2 \
     ORDER BY at LIMIT ?3)";

/// Adds an event. Called within the transaction of its change, so that ids are in the order of the commits.
pub(crate) fn add(connection: &Connection, event: &CredentialEvent) -> Result<(), StorageError> {
    let values = params![
        event.account.as_str(),
        event.id,
        Micros(event.at),
        event.action.name(),
        event.actor.as_str(),
        event.credential_id,
        event.name,
    ];
    connection.execute(INSERT, values).map(|_| ()).map_err(storage_error)
}

/// Returns the instant that is [`RETENTION`] before `now`, in microseconds.
pub(crate) fn retained_since(now: Timestamp) -> i64 {
    now.as_microseconds().saturating_sub(RETENTION.as_micros() as i64)
}

/// Removes the oldest renames of a key beyond the limit.
pub(crate) fn limit_renames(connection: &Connection, account: &AccountId, key: &str) -> Result<(), StorageError> {
    let values = params![account.as_str(), key, MAX_RENAMES as i64];
    connection.execute(LIMIT_RENAMES, values).map(|_| ()).map_err(storage_error)
}

/// Removes up to [`MAX_REMOVED`] events without a key that are past [`RETENTION`] at `now`.
pub(crate) fn remove_old(connection: &Connection, account: &AccountId, now: Timestamp) -> rusqlite::Result<()> {
    let values = params![account.as_str(), retained_since(now), MAX_REMOVED as i64];
    connection.execute(REMOVE_OLD, values).map(|_| ())
}

/// Returns the last `limit` events of an account, newest first.
pub(crate) fn list(
    connection: &Connection,
    account: &AccountId,
    limit: usize,
) -> rusqlite::Result<Vec<CredentialEvent>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(LIST)?;
    statement.query_and_then(params![account.as_str(), limit], event)?.collect()
}

fn event(row: &Row<'_>) -> rusqlite::Result<CredentialEvent> {
    let action = row.get_ref(listed::action)?.as_str()?;
    Ok(CredentialEvent {
        account: account_id(row, listed::account_id)?,
        id: row.get(listed::id)?,
        at: time(row, listed::at)?,
        action: CredentialAction::from_name(action).ok_or(FromSqlError::InvalidType)?,
        actor: Actor::from_stored(row.get::<_, String>(listed::actor)?),
        credential_id: row.get::<_, Option<Arc<str>>>(listed::credential_id)?,
        name: row.get(listed::name)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn last_events_are_read_by_primary_key_unsorted() {
        assert_eq!(plan(LIST), ["SEARCH credential_events USING PRIMARY KEY (account_id=?)"]);
    }

    #[test]
    fn events_are_removed_by_key_index() {
        let index = |bounds: &str| format!("INDEX credential_events_by_key (account_id=? AND credential_id=?{bounds})");
        for (sql, read) in [(REMOVE_OF_KEY, index("")), (LIMIT_RENAMES, index("")), (REMOVE_OLD, index(" AND at<?"))] {
            let steps = plan(sql);
            assert!(steps.iter().any(|step| step.contains(&read)), "{sql}: {steps:?}");
            assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{sql}: {steps:?}");
        }
    }
}
