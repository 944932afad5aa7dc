//! Spreading the tables over the nodes of Citus.

use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::rows::{column, get};

/// Drops triggers.
pub(crate) const WITHOUT_TRIGGERS: &str = include_str!("../../migrations/citus/without_triggers.sql");
/// What the tables need for it.
pub(crate) const TABLES: &str = include_str!("../../migrations/citus/tables.sql");
/// A statement a line for each table.
const PLACEMENT: &str = include_str!("../../migrations/citus/placement.sql");

/// The group of the node that is asked; that of the coordinator is 0.
const GROUP: Sql = Sql { text: "SELECT groupid FROM pg_catalog.pg_dist_local_group", types: &[] };

/// Which tables of this schema are spread.
const SPREAD: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT) FROM pg_catalog.pg_dist_partition AS p \
           JOIN pg_catalog.pg_class AS c ON c.oid = p.logicalrelid \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           WHERE n.nspname = current_schema() AND c.relname = ANY($1)",
    types: &[Type::TEXT_ARRAY],
};

/// The tables, and the statement that spreads each.
pub(super) fn placements() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLACEMENT.lines().filter_map(|line| Some((line.strip_prefix("SELECT ")?.split('\'').nth(1)?, line)))
}

/// Whether each table is spread.
pub(crate) async fn is_done(options: &Options) -> Result<bool, OpenError> {
    let connection = options.writing().open().await?;
    Ok(missing(&connection).await?.is_empty())
}

/// The statements that are missing.
async fn missing(connection: &Connection) -> Result<Vec<&'static str>, OpenError> {
    let tables: Vec<&str> = placements().map(|(table, _)| table).collect();
    let rows = connection.query(&SPREAD, &[&tables]).await?;
    let spread: Vec<&str> = column(&rows)?;
    Ok(placements().filter(|(table, _)| !spread.contains(table)).map(|(_, statement)| statement).collect())
}

/// Spreads what is not spread yet, in the transaction of a migration.
pub(crate) async fn place(connection: &Connection) -> Result<(), OpenError> {
    // Citus would otherwise ask over several connections, which do not see what this transaction has changed.
    connection.run("SET LOCAL citus.multi_shard_modify_mode = 'sequential'").await?;
    for sql in missing(connection).await? {
        connection.run(sql).await?;
    }
    Ok(())
}

/// Refuses a node that is not the coordinator, which alone can spread tables.
pub(crate) async fn check(connection: &Connection, has_citus: bool) -> Result<(), OpenError> {
    if !has_citus {
        let missing =
            "the database has no extension citus; run CREATE EXTENSION citus on each node, or leave --citus out";
        return Err(OpenError::Spread(missing));
    }
    match get(&connection.query_one(&GROUP, &[]).await?, "groupid")? {
        0_i32 => Ok(()),
        _ => Err(OpenError::Spread("this node of Citus is not the coordinator; name the coordinator's address")),
    }
}
