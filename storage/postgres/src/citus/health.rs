//! Problems of a Citus cluster that an operator must fix.

use catalogue_core::storage::StorageError;
use tokio_postgres::types::Type;

use super::placement::placements;
use crate::connection::Sql;
use crate::connections::readers::Readers;
use crate::rows::get;

/// Kind and name of each table that is not distributed, and of each inactive node.
const PROBLEMS: Sql = Sql {
    text: "SELECT 'table' AS kind, CAST(c.relname AS TEXT) AS name FROM pg_catalog.pg_class AS c \
           JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
           WHERE n.nspname = current_schema() AND c.relname = ANY($1) AND c.oid NOT IN \
           (SELECT CAST(p.logicalrelid AS OID) FROM pg_catalog.pg_dist_partition AS p) \
           UNION ALL SELECT 'node', d.nodename || ':' || CAST(d.nodeport AS TEXT) FROM pg_catalog.pg_dist_node AS d \
           WHERE NOT d.isactive ORDER BY 1, 2",
    types: &[Type::TEXT_ARRAY],
};

/// Returns one sentence per problem; empty if the cluster is healthy.
pub(crate) async fn problems(readers: &Readers, is_distributed: bool) -> Result<Vec<String>, StorageError> {
    let tables: Vec<&str> = placements().map(|(table, _)| table).collect();
    let rows = readers.read_primary(&PROBLEMS, &[&tables]).await?;
    let (mut tables, mut problems) = (Vec::new(), Vec::new());
    for row in &rows {
        let (kind, name): (&str, &str) = (get(row, "kind")?, get(row, "name")?);
        match kind {
            "table" => tables.push(name),
            _ => problems.push(format!("node {name} is not active; see citus_activate_node")),
        }
    }
    if !tables.is_empty() || !is_distributed {
        let tables = if tables.is_empty() { "the tables".to_owned() } else { tables.join(", ") };
        problems.push(format!("not distributed over the nodes: {tables}; run `catalogue migrate --citus`"));
    }
    Ok(problems)
}
