//! Tables that are spread over nodes by account, on a cluster of Citus that is there.
//!
//! `CATALOGUE_TEST_CITUS=postgres://…` names its coordinator, as a role that may make schemas and change nodes. What another
//! PostgreSQL can show of it, the suite `with_tables_for_citus` and the rules in `statements` show always.

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
use crate::sqlite_parity::assert_same_bodies;
use cluster::Citus;

/// What makes tables that can be spread over nodes of others.
const TABLES: &str = include_str!("../../../migrations/citus/tables.sql");

/// An empty storage with tables and statements as Citus has them, on PostgreSQL.
pub(crate) async fn on_postgresql(schema: &Schema) -> PostgresStorage {
    let options = schema.options().without_triggers();
    PostgresStorage::migrate(&options).await.unwrap();
    schema.host().await.batch_execute(TABLES).await.unwrap();
    PostgresStorage::open(&options).await.unwrap()
}

#[tokio::test]
async fn every_body_is_that_of_sqlite() {
    let Some(citus) = Citus::new().await else { return };
    assert_same_bodies(citus.storage().await).await;
}

#[tokio::test]
async fn a_storage_says_that_its_tables_are_spread() {
    let Some(schema) = Schema::new().await else { return };
    assert!(on_postgresql(&schema).await.status().await.unwrap().is_distributed);
}
