//! Checks the configured schema: it exists, is on the search path, and belongs to the catalogue.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::error::code;
use crate::open_error::OpenError;
use crate::options::{Options, quoted};
use crate::rows::get;

const FIND_SCHEMA: Sql = Sql {
    text: "SELECT quote_ident($1) AS schema, quote_ident(CAST(current_user AS TEXT)) AS role, \
           EXISTS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1) AS is_there, \
           coalesce(CAST(current_schema() AS TEXT) = $1, FALSE) AS is_found",
    types: &[Type::TEXT],
};

/// A relation of the schema, such as a table, a view, a sequence or a composite type.
const FIND_RELATION: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT) FROM pg_catalog.pg_class AS c \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() LIMIT 1",
    types: &[],
};

/// Returns whether the configured schema exists, and checks that sessions use it. Returns `true` if none is configured.
pub(crate) async fn exists(connection: &Connection, options: &Options) -> Result<bool, OpenError> {
    let Some(name) = options.courses.schema() else { return Ok(true) };
    if options.courses.views.as_deref() == Some(name) {
        return Err(OpenError::OtherApplication(name.to_owned()));
    }
    let row = connection.query_one(&FIND_SCHEMA, &[&name]).await?;
    let (schema, role): (&str, &str) = (get(&row, "schema")?, get(&row, "role")?);
    match (get(&row, "is_there")?, get(&row, "is_found")?) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        // A pooler does not forward settings.
        (true, false) if options.through_pooler => Err(OpenError::Role(format!(
            "schema {schema} is not in the search_path; behind a pooler, run ALTER ROLE {role} SET search_path = {schema}"
        ))),
        // A session does not find a schema that the role may not use.
        (true, false) => Err(no_schema(schema, role)),
    }
}

/// Creates the schema if it is missing.
pub(crate) async fn create(connection: &Connection, options: &Options) -> Result<(), OpenError> {
    let Some(name) = options.courses.schema() else { return Ok(()) };
    if exists(connection, options).await? {
        return Ok(());
    }
    let row = connection.query_one(&FIND_SCHEMA, &[&name]).await?;
    let (schema, role): (&str, &str) = (get(&row, "schema")?, get(&row, "role")?);
    connection.run(&format!("CREATE SCHEMA {}", quoted(name))).await.map_err(|error| match code(&error) {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => no_schema(schema, role),
        _ => error.into(),
    })?;
    exists(connection, options).await.map(|_| ())
}

fn no_schema(schema: &str, role: &str) -> OpenError {
    OpenError::Role(format!(
        "the role may not create or use schema {schema}; as the database's owner, run CREATE SCHEMA {schema} AUTHORIZATION {role}"
    ))
}

/// Returns an error if courses are in views and the schema, which lacks the catalogue's tables, is not empty.
pub(crate) async fn check_empty(connection: &Connection, options: &Options) -> Result<(), OpenError> {
    let Some(schema) = options.courses.schema().filter(|_| options.courses.views.is_some()) else { return Ok(()) };
    let found = connection.query(&FIND_RELATION, &[]).await?;
    if found.is_empty() { Ok(()) } else { Err(OpenError::OtherApplication(schema.to_owned())) }
}
