//! The suite of every storage: with triggers, without them, as through a pooler, and with tables for Citus.

use std::sync::Arc;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, KeyStorage, MemoryStorage, SignInStorage};
use catalogue_postgres::{Options, PostgresStorage};

use crate::citus::{self, cluster::Citus};
use crate::schema::Schema;

/// What stands behind a pointer is a storage too.
trait Storage: CourseStorage + CredentialStorage + KeyStorage + SignInStorage + AdminStorage {}

impl<S: CourseStorage + CredentialStorage + KeyStorage + SignInStorage + AdminStorage> Storage for S {}

/// An empty storage with those options. Where PostgreSQL is missing, which was said, the memory storage stands in for it.
async fn fixture(with: fn(Options) -> Options) -> (Arc<dyn Storage>, Option<Schema>) {
    let Some(schema) = Schema::new().await else {
        return (Arc::new(MemoryStorage::new()), None);
    };
    let storage = PostgresStorage::open_and_migrate(&with(schema.options())).await.unwrap();
    (Arc::new(storage), Some(schema))
}

/// Returns a storage with the tables and statements for Citus, on PostgreSQL.
async fn for_citus() -> (Arc<dyn Storage>, Option<Schema>) {
    let Some(schema) = Schema::new().await else {
        return (Arc::new(MemoryStorage::new()), None);
    };
    (Arc::new(citus::on_postgresql(&schema).await), Some(schema))
}

async fn on_a_coordinator() -> (Arc<dyn Storage>, Option<Citus>) {
    match Citus::new().await {
        Some(citus) => (Arc::new(citus.storage().await), Some(citus)),
        None => (Arc::new(MemoryStorage::new()), None),
    }
}

mod with_triggers {
    catalogue_storage_conformance::tests!(|| super::fixture(std::convert::identity));
}

mod without_triggers {
    catalogue_storage_conformance::tests!(|| super::fixture(super::Options::without_triggers));
}

mod without_named_statements {
    catalogue_storage_conformance::tests!(|| super::fixture(super::Options::through_transaction_pooler));
}

mod with_tables_for_citus {
    catalogue_storage_conformance::tests!(super::for_citus);
}

mod on_citus {
    catalogue_storage_conformance::tests!(super::on_a_coordinator);
}
