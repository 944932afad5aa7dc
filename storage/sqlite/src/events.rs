//! The log of what was done with an account's keys.

use std::sync::Arc;

use catalogue_core::AccountId;
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, StorageError};
use rusqlite::types::FromSqlError;
use rusqlite::{Row, params};

use crate::error::storage_error;
use crate::rows::{Micros, account_id, time};
use crate::tables::Tables;

const INSERT: &str = "INSERT INTO credential_events (account_id, id, at, action, actor, credential_id, name) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const LIST: &str = "SELECT account_id, id, at, action, actor, credential_id, name FROM credential_events \
     WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2";

/// Adds an event. It is made within the transaction of its change: then ids have the order of the commits.
pub(crate) fn add(tables: &Tables<'_>, event: &CredentialEvent) -> Result<(), StorageError> {
    let values = params![
        event.account.as_str(),
        event.id,
        Micros(event.at),
        event.action.name(),
        event.actor.as_str(),
        event.credential_id,
        event.name,
    ];
    tables.execute(INSERT, values).map(|_| ()).map_err(storage_error)
}

/// The last events of an account, newest first.
pub(crate) fn list(tables: &Tables<'_>, account: &AccountId, most: usize) -> rusqlite::Result<Vec<CredentialEvent>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = tables.prepare_cached(LIST)?;
    statement.query_and_then(params![account.as_str(), most], event)?.collect()
}

fn event(row: &Row<'_>) -> rusqlite::Result<CredentialEvent> {
    let action = CredentialAction::from_name(row.get_ref(3)?.as_str()?).ok_or(FromSqlError::InvalidType)?;
    Ok(CredentialEvent {
        account: account_id(row, 0)?,
        id: row.get(1)?,
        at: time(row, 2)?,
        action,
        actor: Actor::from_stored(row.get::<_, String>(4)?),
        credential_id: row.get::<_, Option<Arc<str>>>(5)?,
        name: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn the_last_events_are_one_range_of_the_primary_key_without_a_sort() {
        assert_eq!(plan(LIST), ["SEARCH credential_events USING PRIMARY KEY (account_id=?)"]);
    }
}
