//! Distributing the tables over the nodes of Citus.

use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::rows::{column, get};

/// SQL that drops the triggers.
pub(crate) const WITHOUT_TRIGGERS: &str = include_str!("../../migrations/citus/without_triggers.sql");
/// SQL that prepares the tables for distribution.
pub(crate) const TABLES: &str = include_str!("../../migrations/citus/tables.sql");
/// SQL that distributes each table, one statement per line.
const PLACEMENT: &str = include_str!("../../migrations/citus/placement.sql");

/// Group of the queried node; the coordinator's is 0.
const GROUP: Sql = Sql { text: "SELECT groupid FROM pg_catalog.pg_dist_local_group", types: &[] };

/// Tables of this schema that are distributed.
const DISTRIBUTED_TABLES: Sql = Sql {
    text: "SELECT CAST(c.relname AS TEXT) FROM pg_catalog.pg_dist_partition AS p \
           JOIN pg_catalog.pg_class AS c ON c.oid = p.logicalrelid \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           WHERE n.nspname = current_schema() AND c.relname = ANY($1)",
    types: &[Type::TEXT_ARRAY],
};

/// Returns the tables, each with the statement that distributes it.
pub(super) fn placements() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLACEMENT.lines().filter_map(|line| Some((line.strip_prefix("SELECT ")?.split('\'').nth(1)?, line)))
}

/// Returns whether all tables are distributed.
pub(crate) async fn is_complete(options: &Options) -> Result<bool, OpenError> {
    let connection = options.writing().open().await?;
    Ok(missing(&connection).await?.is_empty())
}

/// Returns the statements for tables that are not distributed.
async fn missing(connection: &Connection) -> Result<Vec<&'static str>, OpenError> {
    let tables: Vec<&str> = placements().map(|(table, _)| table).collect();
    let rows = connection.query(&DISTRIBUTED_TABLES, &[&tables]).await?;
    let distributed: Vec<&str> = column(&rows)?;
    Ok(placements().filter(|(table, _)| !distributed.contains(table)).map(|(_, statement)| statement).collect())
}

/// Distributes the remaining tables, in the transaction of a migration.
pub(crate) async fn distribute(connection: &Connection) -> Result<(), OpenError> {
    // Otherwise Citus uses several connections, which do not see the changes of this transaction.
    connection.run("SET LOCAL citus.multi_shard_modify_mode = 'sequential'").await?;
    for sql in missing(connection).await? {
        connection.run(sql).await?;
    }
    Ok(())
}

/// Returns an error unless the node can distribute tables: it must have the extension Citus and be the coordinator.
pub(crate) async fn check(connection: &Connection, has_citus: bool) -> Result<(), OpenError> {
    if !has_citus {
        let missing =
            "the database lacks the extension citus; run CREATE EXTENSION citus on each node, or omit --citus";
        return Err(OpenError::Distribution(missing));
    }
    match get(&connection.query_one(&GROUP, &[]).await?, "groupid")? {
        0_i32 => Ok(()),
        _ => Err(OpenError::Distribution("this Citus node is not the coordinator; connect to the coordinator")),
    }
}
