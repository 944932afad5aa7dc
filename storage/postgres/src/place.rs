//! The schema of our tables, where it is named: whether it is there, is looked into, and is nobody else's.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::error::storage_error;
use crate::open_error::OpenError;
use crate::options::{Options, quoted};
use crate::rows::get;

const PLACE: Sql = Sql {
    text: "SELECT quote_ident($1), quote_ident(CAST(current_user AS TEXT)), \
           EXISTS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1), \
           coalesce(CAST(current_schema() AS TEXT) = $1, FALSE)",
    types: &[Type::TEXT],
};

/// Tables, views, sequences and types with columns.
const RELATIONS_OF_ANYBODY: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT) FROM pg_catalog.pg_class AS c \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() LIMIT 1",
    types: &[],
};

/// Whether the schema is there; sessions then look into it. Where none is named, it is the session's.
pub(crate) async fn is_there(connection: &Connection, options: &Options) -> Result<bool, OpenError> {
    let Some(name) = options.courses.schema() else { return Ok(true) };
    if options.courses.views.as_deref() == Some(name) {
        return Err(OpenError::Foreign(name.to_owned()));
    }
    let rows = connection.query(&PLACE, &[&name]).await.map_err(storage_error).map_err(OpenError::Failed)?;
    let place = rows.first().map(|row| Ok((get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?)));
    let place = place.unwrap_or_else(|| Ok(Default::default())).map_err(OpenError::Failed)?;
    let (schema, role, is_there, is_found): (String, String, bool, bool) = place;
    match (is_there, is_found) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) if options.through_pooler => Err(OpenError::SearchPath { schema, role }),
        // Without the right to use it, a session does not see it.
        (true, false) => Err(OpenError::NoSchema { schema, role }),
    }
}

/// Makes it where it is missing.
pub(crate) async fn make(connection: &Connection, options: &Options) -> Result<(), OpenError> {
    let Some(name) = options.courses.schema() else { return Ok(()) };
    if is_there(connection, options).await? {
        return Ok(());
    }
    let role = connection.query(&PLACE, &[&name]).await.map_err(storage_error).map_err(OpenError::Failed)?;
    let made = connection.run(&format!("CREATE SCHEMA {}", quoted(name))).await;
    made.map_err(|error| match (error.code(), role.first()) {
        (Some(&SqlState::INSUFFICIENT_PRIVILEGE), Some(row)) => {
            OpenError::NoSchema { schema: row.get(0), role: row.get(1) }
        }
        _ => OpenError::Failed(storage_error(error)),
    })?;
    is_there(connection, options).await.map(|_| ())
}

/// Refuses a schema without tables of ours that has something of others, where ours are to be alone.
pub(crate) async fn check_alone(connection: &Connection, options: &Options) -> Result<(), OpenError> {
    let Some(schema) = options.courses.schema().filter(|_| options.courses.views.is_some()) else { return Ok(()) };
    let found = connection.query(&RELATIONS_OF_ANYBODY, &[]).await.map_err(storage_error).map_err(OpenError::Failed)?;
    if found.is_empty() { Ok(()) } else { Err(OpenError::Foreign(schema.to_owned())) }
}
