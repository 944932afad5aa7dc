//! Schema migration: numbered SQL files, applied in order in one transaction.

use std::time::Duration;

use catalogue_core::storage::StorageError;
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::citus::placement;
use crate::connection::{Connection, Sql};
use crate::engine;
use crate::error::{cause, code, is_locked, unavailable};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::rows::{column, get};
use crate::schema;
use crate::transaction::commit;
use crate::versions::{MIGRATIONS, Migration};

/// Timeout for reading the schema's version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a table lock that another transaction holds. [`ATTEMPTS`] and [`RETRY_DELAY`] also apply if another program
/// creates the same tables concurrently.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const ATTEMPTS: usize = 30;
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Version table of builds from before schema version 1 was redefined.
const UNRELEASED_VERSION_TABLE: &str = "catalogue_schema";
/// Single-row table that holds the schema version. A migration locks the row.
const VERSION_TABLE: &str = "
    CREATE TABLE catalogue_schema_version (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), version BIGINT NOT NULL);
    INSERT INTO catalogue_schema_version (id, version) VALUES (1, 0);
";

/// The catalogue's tables in the schema that new tables would be created in.
const TABLES: Sql = Sql {
    text: "SELECT CAST(tablename AS TEXT) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() \
           AND tablename IN ('catalogue_schema_version', 'catalogue_schema', 'accounts', 'courses', 'modules', \
           'module_contents', 'credentials', 'sign_ins', 'credential_events', 'revoked_tokens', 'credential_accounts')",
    types: &[],
};

/// Encoding, role and extension, and the schema that new tables would be created in.
const SETTINGS: Sql = Sql {
    text: "SELECT current_setting('server_encoding') AS encoding, CAST(coalesce(current_schema(), '') AS TEXT) AS schema, \
           EXISTS (SELECT oid FROM pg_catalog.pg_extension WHERE extname = 'citus') AS has_citus, \
           quote_ident(CAST(current_user AS TEXT)) AS role, \
           quote_ident(CAST(coalesce(current_schema(), '') AS TEXT)) AS quoted_schema",
    types: &[],
};

pub(crate) const VERSION: Sql = Sql { text: "SELECT version FROM catalogue_schema_version WHERE id = 1", types: &[] };

const LOCKED_VERSION: Sql =
    Sql { text: "SELECT version FROM catalogue_schema_version WHERE id = 1 FOR UPDATE", types: &[] };

const SET_VERSION: Sql =
    Sql { text: "UPDATE catalogue_schema_version SET version = $1 WHERE id = 1", types: &[Type::INT8] };

/// Returns a row if the tables were created with triggers.
const TRIGGERS: Sql = Sql {
    text: "SELECT p.oid FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace \
           WHERE n.nspname = current_schema() AND p.proname = 'catalogue_courses_updated'",
    types: &[],
};

/// Result of [`PostgresStorage::migrate`](crate::PostgresStorage::migrate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

/// State of a schema.
#[derive(Clone, Copy, Default)]
pub(crate) struct SchemaState {
    /// 0 if the catalogue has no tables.
    pub(crate) version: u32,
    /// Whether its tables were created for distribution over Citus nodes by account.
    pub(crate) is_distributed: bool,
    /// Whether the database has the extension Citus.
    pub(crate) has_citus: bool,
}

/// Checks the engine, the encoding and the role's schema, and reads the state of the schema.
pub(crate) async fn read_state(options: &Options) -> Result<SchemaState, OpenError> {
    let connection = options.exporting().open().await?;
    let state = async {
        engine::check(&connection).await?;
        let settings = connection.query_one(&SETTINGS, &[]).await?;
        let (encoding, schema): (String, &str) = (get(&settings, "encoding")?, get(&settings, "schema")?);
        // Only UTF-8 stores texts unchanged.
        if !encoding.eq_ignore_ascii_case("UTF8") {
            return Err(OpenError::Encoding(encoding));
        }
        if schema.is_empty() && options.courses.schema().is_none() {
            let role: &str = get(&settings, "role")?;
            return Err(OpenError::Role(format!(
                "role {role} has no schema in its search_path; run ALTER ROLE {role} SET search_path = public, or set \
                 --database-schema"
            )));
        }
        let has_citus = get(&settings, "has_citus")?;
        if !schema::exists(&connection, options).await? {
            return Ok(SchemaState { has_citus, ..SchemaState::default() });
        }
        Ok(SchemaState { has_citus, ..read_state_in(&connection, &VERSION, options).await? })
    };
    let unresponsive = "the database does not respond; it is slow, or another transaction has locked its tables";
    timeout(VERSION_TIMEOUT, state).await.unwrap_or_else(|_| Err(OpenError::Failed(unavailable(unresponsive))))
}

/// Brings the database to [`SCHEMA_VERSION`](crate::versions::SCHEMA_VERSION). Does nothing if it is up to date.
pub(crate) async fn migrate(options: &Options) -> Result<Migrated, OpenError> {
    migrate_by(&MIGRATIONS, options).await
}

/// Applies those of `migrations` that the database lacks.
async fn migrate_by(migrations: &[Migration], options: &Options) -> Result<Migrated, OpenError> {
    let known = migrations.len() as u32;
    let SchemaState { version: found, is_distributed, has_citus } = read_state(options).await?;
    if found > known {
        return Err(OpenError::NewerSchema { found, known });
    }
    if options.citus && options.courses.views.is_some() {
        return Err(OpenError::Distribution("courses in views cannot be distributed over nodes; omit --citus"));
    }
    let is_complete = !options.citus || is_distributed && has_citus && placement::is_complete(options).await?;
    if found == known && is_complete {
        return Ok(Migrated { from: found, to: found });
    }
    let mut attempt = 1;
    loop {
        // The transaction of a failed attempt ends with its connection.
        let connection = options.writing().open().await?;
        match apply(migrations, &connection, options, has_citus).await {
            // Requests would queue behind this wait for another transaction's lock, so it is short and repeated.
            Err(OpenError::Failed(error)) if (is_locked(&error) || is_race(&error)) && attempt < ATTEMPTS => {
                attempt += 1;
                sleep(RETRY_DELAY).await;
            }
            applied => return applied.map(|from| Migrated { from, to: known.max(from) }),
        }
    }
}

/// Applies missing migrations and returns the version before. Reads it under the lock: another process may have been faster.
async fn apply(
    migrations: &[Migration],
    connection: &Connection,
    options: &Options,
    has_citus: bool,
) -> Result<u32, OpenError> {
    let beside_views = options.courses.views.is_some();
    if options.citus {
        placement::check(connection, has_citus).await?;
    }
    connection.run(&format!("BEGIN; SET LOCAL lock_timeout = {}", LOCK_TIMEOUT.as_millis())).await?;
    schema::create(connection, options).await?;
    let SchemaState { version: found, is_distributed, .. } =
        read_state_in(connection, &LOCKED_VERSION, options).await?;
    if found == 0 {
        let settings = connection.query_one(&SETTINGS, &[]).await?;
        let (schema, role): (&str, &str) = (get(&settings, "quoted_schema")?, get(&settings, "role")?);
        connection.run(VERSION_TABLE).await.map_err(|error| match (code(&error), cause(&error)) {
            (Some(&SqlState::INSUFFICIENT_PRIVILEGE), Some(reason)) => OpenError::Role(format!(
                "role {role} may not create tables in schema {schema}: {reason}; as the database's owner, run \
                 GRANT CREATE ON SCHEMA {schema} TO {role}"
            )),
            _ => error.into(),
        })?;
    }
    if options.citus && !is_distributed {
        connection.run(placement::WITHOUT_TRIGGERS).await?;
    }
    // Tables without triggers stay without; existing triggers must match the schema version.
    let triggers = if found == 0 { options.triggers } else { !connection.query(&TRIGGERS, &[]).await?.is_empty() };
    for migration in migrations.iter().skip(found as usize) {
        connection.run(if beside_views { migration.views } else { migration.tables }).await?;
        if triggers && !beside_views {
            connection.run(migration.triggers).await?;
        }
    }
    if options.citus && !is_distributed {
        connection.run(placement::TABLES).await?;
    }
    if options.citus || is_distributed && has_citus {
        placement::distribute(connection).await?;
    }
    let version = found.max(migrations.len() as u32);
    connection.execute(&SET_VERSION, &[&i64::from(version)]).await?;
    commit(connection).await?;
    Ok(found)
}

/// Reads the version by `sql`, and whether the tables are for distribution. Leaves `has_citus` false.
async fn read_state_in(connection: &Connection, sql: &Sql<'_>, options: &Options) -> Result<SchemaState, OpenError> {
    let tables = connection.query(&TABLES, &[]).await?;
    let tables: Vec<&str> = column(&tables)?;
    if tables.is_empty() {
        return schema::check_empty(connection, options).await.map(|()| SchemaState::default());
    }
    let views = !tables.contains(&"accounts");
    if tables.contains(&UNRELEASED_VERSION_TABLE) {
        return Err(OpenError::UnreleasedSchema { schema: schema(connection).await?, beside_views: views });
    }
    let row = match tables.contains(&"catalogue_schema_version") {
        true => connection.query(sql, &[]).await?.pop(),
        false => None,
    };
    let Some(row) = row else {
        return Err(OpenError::OtherApplication(schema(connection).await?));
    };
    let version: i64 = get(&row, 0)?;
    if views != options.courses.views.is_some() {
        return Err(OpenError::OtherCourseSource { schema: schema(connection).await?, views });
    }
    let version = u32::try_from(version).unwrap_or(u32::MAX);
    Ok(SchemaState { version, is_distributed: tables.contains(&"credential_accounts"), has_citus: false })
}

/// Returns the schema that new tables would be created in.
async fn schema(connection: &Connection) -> Result<String, OpenError> {
    Ok(get(&connection.query_one(&SETTINGS, &[]).await?, "schema")?)
}

/// Returns `true` if another program has concurrently created the same tables.
fn is_race(error: &StorageError) -> bool {
    let codes = [
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_OBJECT,
        SqlState::UNIQUE_VIOLATION,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    code(error).is_some_and(|code| codes.contains(code))
}

#[cfg(test)]
mod tests;
