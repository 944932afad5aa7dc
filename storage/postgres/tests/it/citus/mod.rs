//! Tables that are distributed over nodes by account, on an existing Citus cluster.
//!
//! `CATALOGUE_TEST_CITUS=postgres://…` names its coordinator, as a role that may create schemas and change nodes. The
//! suite `with_tables_for_citus`, the tests in `unresponsive_worker` and the rules in `statements` need no cluster.

pub(crate) mod cluster;

mod distribution;
mod nodes;
mod plans;
mod standby;
mod unresponsive_worker;
mod worker;

use catalogue_core::admin::AdminStorage as _;
use catalogue_postgres::PostgresStorage;

use crate::schema::Schema;

/// Migration that makes tables distributable over nodes.
const TABLES: &str = include_str!("../../../migrations/citus/tables.sql");

/// Creates an empty storage with tables and statements for Citus, on PostgreSQL.
pub(crate) async fn on_postgresql(schema: &Schema) -> PostgresStorage {
    let options = schema.options().without_triggers();
    PostgresStorage::migrate(&options).await.unwrap();
    schema.host().await.batch_execute(TABLES).await.unwrap();
    PostgresStorage::open(&options).await.unwrap()
}

#[tokio::test]
async fn status_reports_distributed_tables() {
    let Some(schema) = Schema::new().await else { return };
    assert!(on_postgresql(&schema).await.status().await.unwrap().is_distributed);
}
