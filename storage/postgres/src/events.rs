//! The log of what was done to keys and to sign in.

use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, StorageError};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::rows::{account_id, get, must_not, optional_text, owned_text, time};
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

/// Writes an event, in the transaction of what was done.
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
    connection.execute(&INSERT_EVENT, values).await.map(|_| ()).map_err(storage_error)
}

/// A row of [`LAST_EVENTS`].
pub(crate) fn event(row: &Row) -> Result<CredentialEvent, StorageError> {
    let action: &str = get(row, 3)?;
    Ok(CredentialEvent {
        account: account_id(row, 0)?,
        id: get::<&str>(row, 1)?.into(),
        at: time(row, 2)?,
        action: CredentialAction::from_name(action).ok_or_else(|| must_not(&format!("the action {action:?}")))?,
        actor: Actor::from_stored(owned_text(row, 4)?),
        credential_id: get::<Option<&str>>(row, 5)?.map(Into::into),
        name: optional_text(row, 6)?,
    })
}
