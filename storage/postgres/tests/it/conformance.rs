//! Runs the conformance suite: with triggers, without triggers or named statements, with tables for Citus, and on Citus.
//!
//! Reads and imports name their statements or not, and only writes fire triggers, so the two need no suite for each pair.

use std::sync::Arc;

use catalogue_core::storage::MemoryStorage;
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_storage_conformance::Storage;

use crate::citus::{self, cluster::Citus};
use crate::schema::Schema;

/// Creates an empty storage, or a memory storage if PostgreSQL is missing, which `Cluster::shared` logs.
async fn fixture(configure: fn(Options) -> Options) -> (Arc<dyn Storage>, Option<Schema>) {
    let Some(schema) = Schema::new().await else {
        return (Arc::new(MemoryStorage::new()), None);
    };
    let storage = PostgresStorage::open_and_migrate(&configure(schema.options())).await.unwrap();
    (Arc::new(storage), Some(schema))
}

/// Returns a storage with the tables and statements for Citus, on PostgreSQL.
async fn for_citus() -> (Arc<dyn Storage>, Option<Schema>) {
    let Some(schema) = Schema::new().await else {
        return (Arc::new(MemoryStorage::new()), None);
    };
    (Arc::new(citus::on_postgresql(&schema).await), Some(schema))
}

async fn on_coordinator() -> (Arc<dyn Storage>, Option<Citus>) {
    match Citus::new().await {
        Some(citus) => (Arc::new(citus.storage().await), Some(citus)),
        None => (Arc::new(MemoryStorage::new()), None),
    }
}

mod with_triggers {
    catalogue_storage_conformance::tests!(|| super::fixture(std::convert::identity));
}

mod without_triggers_or_named_statements {
    catalogue_storage_conformance::tests!(|| super::fixture(|options| {
        options.without_triggers().through_transaction_pooler()
    }));
}

mod with_tables_for_citus {
    catalogue_storage_conformance::tests!(super::for_citus);
}

mod on_citus {
    catalogue_storage_conformance::tests!(super::on_coordinator);
}
