//! The suite of every storage: with triggers, without them, and as through a pooler.

use std::sync::Arc;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, KeyStorage, MemoryStorage, SignInStorage};
use catalogue_postgres::{Options, PostgresStorage};

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

mod with_triggers {
    catalogue_storage_conformance::tests!(|| super::fixture(std::convert::identity));
}

mod without_triggers {
    catalogue_storage_conformance::tests!(|| super::fixture(super::Options::without_triggers));
}

mod without_named_statements {
    catalogue_storage_conformance::tests!(|| super::fixture(super::Options::through_transaction_pooler));
}
