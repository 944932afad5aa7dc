//! Log of changes to keys and sign-ins.

use catalogue_core::Timestamp;
use catalogue_core::storage::{
    Actor, CredentialAction, CredentialEvent, MAX_REMOVED, MAX_RENAMES, RETENTION, StorageError,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::rows::{account_id, column, get, invalid_value, optional_text, owned_text, time};
use crate::text::stored;

const TEXT: Type = Type::TEXT;

const INSERT_EVENT: Sql = Sql {
    text: "INSERT INTO credential_events (account_id, id, at, action, actor, credential_id, name) \
           VALUES ($1, $2, $3, $4, $5, $6, $7)",
    types: &[TEXT, TEXT, Type::INT8, TEXT, TEXT, TEXT, TEXT],
};

pub(crate) const LAST_EVENTS: Sql = Sql {
    text: "SELECT account_id, id, at, action, actor, credential_id, name FROM credential_events \
           WHERE account_id = $1 ORDER BY id DESC LIMIT $2",
    types: &[TEXT, Type::INT8],
};

/// Removes all events of the given keys.
pub(crate) const REMOVE_OF_KEYS: Sql = Sql {
    text: "DELETE FROM credential_events WHERE account_id = $1 AND credential_id = ANY($2)",
    types: &[TEXT, Type::TEXT_ARRAY],
};

const RENAMES: Sql = Sql {
    text: "SELECT id FROM credential_events WHERE account_id = $1 AND credential_id = $2 AND action = 'key_renamed' \
           ORDER BY id DESC",
    types: &[TEXT, TEXT],
};

/// Sign-in events, which belong to no key, up to a given time.
const OLD: Sql = Sql {
    text: "SELECT id FROM credential_events WHERE account_id = $1 AND credential_id IS NULL AND at <= $2 \
           ORDER BY at LIMIT $3",
    types: &[TEXT, Type::INT8, Type::INT8],
};

const REMOVE: Sql = Sql {
    text: "DELETE FROM credential_events WHERE account_id = $1 AND id = ANY($2)",
    types: &[TEXT, Type::TEXT_ARRAY],
};

/// Returns the time that is [`RETENTION`] before `now`, in microseconds.
pub(crate) fn retained_since(now: Timestamp) -> i64 {
    now.as_microseconds().saturating_sub(RETENTION.as_micros() as i64)
}

/// Removes the oldest renames of a key beyond the limit.
pub(crate) async fn limit_renames(connection: &Connection, account: &str, key: &str) -> Result<(), StorageError> {
    let renames = connection.query(&RENAMES, &[&account, &key]).await?;
    remove(connection, account, renames.get(MAX_RENAMES..).unwrap_or_default()).await
}

/// Removes up to [`MAX_REMOVED`] sign-in events that are past retention at `now`.
pub(crate) async fn remove_old(connection: &Connection, account: &str, now: Timestamp) -> Result<(), StorageError> {
    let values: Values<'_> = &[&account, &retained_since(now), &(MAX_REMOVED as i64)];
    let old = connection.query(&OLD, values).await?;
    remove(connection, account, &old).await
}

async fn remove(connection: &Connection, account: &str, rows: &[Row]) -> Result<(), StorageError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = column(rows)?;
    connection.execute(&REMOVE, &[&account, &ids]).await.map(|_| ())
}

/// Writes an event, in the transaction of the change.
pub(crate) async fn insert(connection: &Connection, event: &CredentialEvent) -> Result<(), StorageError> {
    let CredentialEvent { account, id, at, action, actor, credential_id, name } = event;
    let values: Values<'_> = &[
        &account.as_str(),
        &&**id,
        &at.as_microseconds(),
        &action.name(),
        &stored(actor.as_str()),
        &credential_id.as_deref(),
        &name.as_deref().map(stored),
    ];
    connection.execute(&INSERT_EVENT, values).await.map(|_| ())
}

/// Converts a row of [`LAST_EVENTS`].
pub(crate) fn event(row: &Row) -> Result<CredentialEvent, StorageError> {
    let action: &str = get(row, "action")?;
    Ok(CredentialEvent {
        account: account_id(row, "account_id")?,
        id: get::<&str>(row, "id")?.into(),
        at: time(row, "at")?,
        action: CredentialAction::from_name(action).ok_or_else(|| invalid_value(&format!("action {action:?}")))?,
        actor: Actor::from_stored(owned_text(row, "actor")?),
        credential_id: get::<Option<&str>>(row, "credential_id")?.map(Into::into),
        name: optional_text(row, "name")?,
    })
}
