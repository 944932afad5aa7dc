//! Bringing a schema up to date: numbered SQL files, applied in order in one transaction.

use std::time::Duration;

use catalogue_core::storage::StorageError;
use tokio::time::{sleep, timeout};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::citus::placement;
use crate::connection::{Connection, Sql};
use crate::engine;
use crate::error::{code, is_locked, storage_error, unavailable};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::place;
use crate::rows::get;
use crate::transaction::commit;
use crate::versions::{MIGRATIONS, Migration};

/// How often a migration is begun while others make the same tables.
const ATTEMPTS: usize = 5;

/// How long it may take to find out which version there is.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a migration waits for a table that another transaction has, and how often and when it tries again.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const LOCK_ATTEMPTS: usize = 30;
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// The mark of builds before schema version 1 was made anew.
const UNRELEASED_VERSION_TABLE: &str = "catalogue_schema";
/// The one row of this table says which version the schema has. Who migrates has it locked.
const VERSION_TABLE: &str = "
    CREATE TABLE catalogue_schema_version (id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1), version BIGINT NOT NULL);
    INSERT INTO catalogue_schema_version (id, version) VALUES (1, 0);
";

/// Which of our tables the schema has that new tables would be made in.
const TABLES: Sql = Sql {
    text: "SELECT CAST(tablename AS TEXT) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() \
           AND tablename IN ('catalogue_schema_version', 'catalogue_schema', 'accounts', 'courses', 'modules', \
           'module_contents', 'credentials', 'sign_ins', 'credential_events', 'revoked_tokens')",
    types: &[],
};

const SETTINGS: Sql = Sql {
    text: "SELECT current_setting('server_encoding'), CAST(coalesce(current_schema(), '') AS TEXT), \
           (SELECT count(*) FROM pg_catalog.pg_extension WHERE extname = 'citus'), \
           quote_ident(CAST(current_user AS TEXT)), quote_ident(CAST(coalesce(current_schema(), '') AS TEXT))",
    types: &[],
};

const VERSION: Sql = Sql { text: "SELECT version FROM catalogue_schema_version WHERE id = 1", types: &[] };

const LOCKED_VERSION: Sql =
    Sql { text: "SELECT version FROM catalogue_schema_version WHERE id = 1 FOR UPDATE", types: &[] };

const SET_VERSION: Sql =
    Sql { text: "UPDATE catalogue_schema_version SET version = $1 WHERE id = 1", types: &[Type::INT8] };

/// A row where the tables are made for being spread over nodes.
const SPREAD: Sql = Sql {
    text: "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema() \
           AND tablename = 'credential_accounts'",
    types: &[],
};

/// A row where the tables were made with triggers.
const TRIGGERS: Sql = Sql {
    text: "SELECT p.oid FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace \
           WHERE n.nspname = current_schema() AND p.proname = 'catalogue_courses_updated'",
    types: &[],
};

/// What [`PostgresStorage::migrate`](crate::PostgresStorage::migrate) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

/// What a schema is like.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// 0 where there are no tables of ours.
    pub(crate) version: u32,
    /// Whether its tables are made for being spread over nodes by account.
    pub(crate) is_spread: bool,
    /// Whether the database has the extension that spreads them.
    pub(crate) has_citus: bool,
}

/// Looks at the schema.
pub(crate) async fn look(options: &Options) -> Result<Found, OpenError> {
    let connection = options.exporting().open().await.map_err(OpenError::Failed)?;
    let asking = async {
        engine::check(&connection).await?;
        let Settings { encoding, schema, role, has_citus, .. } = settings(&connection).await?;
        // Texts are kept as they come only in UTF-8.
        if !encoding.eq_ignore_ascii_case("UTF8") {
            return Err(OpenError::Encoding(encoding));
        }
        if schema.is_empty() && options.courses.schema().is_none() {
            return Err(OpenError::NoSearchPath { role });
        }
        if !place::is_there(&connection, options).await? {
            return Ok(Found { version: 0, is_spread: false, has_citus });
        }
        let version = version_in(&connection, &VERSION, options).await?;
        let is_spread = has_row(&connection, &SPREAD).await?;
        Ok(Found { version, is_spread, has_citus })
    };
    let silent = "the database does not answer; it is slow, or another transaction has its tables locked";
    timeout(VERSION_TIMEOUT, asking).await.unwrap_or_else(|_| Err(OpenError::Failed(unavailable(silent))))
}

/// Brings the database to [`SCHEMA_VERSION`](crate::versions::SCHEMA_VERSION); does nothing at all where it is there already.
pub(crate) async fn migrate(options: &Options) -> Result<Migrated, OpenError> {
    migrate_by(&MIGRATIONS, options).await
}

/// Applies what the database lacks of `migrations`.
async fn migrate_by(migrations: &[Migration], options: &Options) -> Result<Migrated, OpenError> {
    let known = migrations.len() as u32;
    let Found { version: found, is_spread, has_citus } = look(options).await?;
    if found > known {
        return Err(OpenError::NewerSchema { found, known });
    }
    if options.citus && options.courses.views.is_some() {
        return Err(OpenError::SpreadViews);
    }
    let is_placed = !options.citus || is_spread && has_citus && placement::is_done(options).await?;
    if found == known && is_placed {
        return Ok(Migrated { from: found, to: found });
    }
    let (mut attempt, mut locked) = (1, 1);
    loop {
        // The transaction of an attempt that failed ends with its connection.
        let connection = options.writing().open().await.map_err(OpenError::Failed)?;
        match apply(migrations, &connection, options).await {
            // Requests would queue behind this one for as long as another transaction has a table: better to step back.
            Err(OpenError::Failed(error)) if is_locked(&error) && locked < LOCK_ATTEMPTS => {
                locked += 1;
                sleep(LOCK_PAUSE).await;
            }
            Err(OpenError::Failed(error)) if is_race(&error) && attempt < ATTEMPTS => attempt += 1,
            applied => return applied.map(|from| Migrated { from, to: known.max(from) }),
        }
    }
}

/// Applies what is missing; the version is read again under the lock, as another process may have been faster.
async fn apply(migrations: &[Migration], connection: &Connection, options: &Options) -> Result<u32, OpenError> {
    let beside_views = options.courses.views.is_some();
    let run = async |sql: &str| connection.run(sql).await.map_err(failed);
    let Settings { has_citus, .. } = settings(connection).await?;
    if options.citus {
        placement::check(connection, has_citus).await?;
    }
    run(&format!("BEGIN; SET LOCAL lock_timeout = {}", LOCK_TIMEOUT.as_millis())).await?;
    place::make(connection, options).await?;
    let found = version_in(connection, &LOCKED_VERSION, options).await?;
    if found == 0 && connection.query(&TABLES, &[]).await.map_err(failed)?.is_empty() {
        let Settings { role, quoted_schema: schema, .. } = settings(connection).await?;
        connection.run(VERSION_TABLE).await.map_err(|error| match error.as_db_error() {
            Some(refusal) if *refusal.code() == SqlState::INSUFFICIENT_PRIVILEGE => {
                OpenError::NoCreate { schema, role, reason: refusal.message().to_owned() }
            }
            _ => failed(error),
        })?;
    }
    let is_spread = has_row(connection, &SPREAD).await?;
    if options.citus && !is_spread {
        run(placement::WITHOUT_TRIGGERS).await?;
    }
    // What was made without triggers stays without, and triggers that are there have to be of the same version.
    let triggers = if found == 0 { options.triggers } else { has_row(connection, &TRIGGERS).await? };
    for migration in migrations.iter().skip(found as usize) {
        run(migration.tables(beside_views)).await?;
        if triggers && !beside_views {
            run(migration.triggers).await?;
        }
    }
    if options.citus && !is_spread {
        run(placement::TABLES).await?;
    }
    if options.citus || is_spread && has_citus {
        placement::place(connection).await?;
    }
    let version = found.max(migrations.len() as u32);
    connection.execute(&SET_VERSION, &[&i64::from(version)]).await.map_err(failed)?;
    commit(connection).await.map_err(OpenError::Failed)?;
    Ok(found)
}

/// The version by that statement; 0 where there is no table to ask.
async fn version_in(connection: &Connection, sql: &Sql<'_>, options: &Options) -> Result<u32, OpenError> {
    let tables = connection.query(&TABLES, &[]).await.map_err(failed)?;
    let tables: Vec<&str> =
        tables.iter().map(|row| get(row, 0)).collect::<Result<_, _>>().map_err(OpenError::Failed)?;
    if tables.is_empty() {
        return place::check_alone(connection, options).await.map(|()| 0);
    }
    let views = !tables.contains(&"accounts");
    if tables.contains(&UNRELEASED_VERSION_TABLE) {
        let schema = settings(connection).await?.schema;
        return Err(OpenError::UnreleasedSchema { schema, beside_views: views });
    }
    let row = match tables.contains(&"catalogue_schema_version") {
        true => connection.query(sql, &[]).await.map_err(failed)?.pop(),
        false => None,
    };
    let Some(row) = row else {
        return Err(OpenError::Foreign(settings(connection).await?.schema));
    };
    let version: i64 = get(&row, 0).map_err(OpenError::Failed)?;
    if views != options.courses.views.is_some() {
        return Err(OpenError::MadeForOther { schema: settings(connection).await?.schema, views });
    }
    Ok(u32::try_from(version).unwrap_or(u32::MAX))
}

#[derive(Default)]
struct Settings {
    encoding: String,
    /// In which new tables would be made.
    schema: String,
    has_citus: bool,
    /// The role, and the schema, as SQL names them.
    role: String,
    quoted_schema: String,
}

async fn settings(connection: &Connection) -> Result<Settings, OpenError> {
    let rows = connection.query(&SETTINGS, &[]).await.map_err(failed)?;
    let settings = rows.first().map(|row| {
        let has_citus = get::<i64>(row, 2)? > 0;
        let (role, quoted_schema) = (get(row, 3)?, get(row, 4)?);
        Ok(Settings { encoding: get(row, 0)?, schema: get(row, 1)?, has_citus, role, quoted_schema })
    });
    settings.unwrap_or_else(|| Ok(Settings::default())).map_err(OpenError::Failed)
}

async fn has_row(connection: &Connection, sql: &Sql<'_>) -> Result<bool, OpenError> {
    Ok(!connection.query(sql, &[]).await.map_err(failed)?.is_empty())
}

/// Whether another program has made the same tables meanwhile.
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

fn failed(error: Error) -> OpenError {
    OpenError::Failed(storage_error(error))
}

#[cfg(test)]
mod tests;
