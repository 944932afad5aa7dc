//! Reads of an account whose worker is unresponsive.
//!
//! Simulated on PostgreSQL: keys are read from a view that waits for a lock if the account would be on that worker.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, CredentialStorage, KeyStorage, StorageError, StorageErrorKind};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_storage_tests::database::import_account;
use futures_util::future::{join, select};
use tokio_postgres::Client;

use super::on_postgresql;
use crate::schema::Schema;
use crate::stress::wait_until;

const WORKER: &str = "
    CREATE FUNCTION reach(account TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
        IF account = 'affected' THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
        RETURN TRUE;
    END $$;
    ALTER TABLE credentials RENAME TO stored;
    CREATE VIEW credentials AS SELECT * FROM stored WHERE reach(account_id)";

/// Keys of one account on the worker and of another one elsewhere, in a storage that reads over `connections`.
struct Fixture {
    affected: TokenDigest,
    unaffected: TokenDigest,
    storage: PostgresStorage,
    host: Client,
    schema: Schema,
}

impl Fixture {
    async fn new(connections: usize, deadline: Duration) -> Option<Self> {
        let schema = Schema::new().await?;
        let (storage, host) = (on_postgresql(&schema).await, schema.host().await);
        let key_of = async |name: &str| {
            let id = import_account(&storage, name).await;
            let (_, key) = NewCredential::api_key(id, "a key", Scopes::default());
            storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
            key.digest
        };
        let (affected, unaffected) = (key_of("affected").await, key_of("unaffected").await);
        host.batch_execute(WORKER).await.unwrap();
        let options = Options::parse(schema.address()).unwrap();
        let options = options.connections(NonZeroUsize::new(connections).unwrap()).deadline(deadline);
        let storage = PostgresStorage::open(&options).await.unwrap();
        Some(Self { affected, unaffected, storage, host, schema })
    }

    async fn block_worker(&self) {
        self.host.batch_execute("SELECT pg_advisory_lock(7)").await.unwrap();
    }

    async fn unblock_worker(&self) {
        self.host.batch_execute("SELECT pg_advisory_unlock(7)").await.unwrap();
    }

    async fn read(&self, key: &TokenDigest) -> Result<(), StorageError> {
        self.storage.find_credential(key).await.map(|found| assert!(found.is_some()))
    }

    /// Returns once a read waits for the worker.
    async fn wait_for_blocked_read(&self) {
        let waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
        wait_until(async || !self.host.query(waits, &[&self.schema.name()]).await.unwrap().is_empty()).await;
    }

    async fn timeouts(&self) -> usize {
        self.storage.status().await.unwrap().connections.timeouts
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_of_unresponsive_worker_time_out_without_delaying_others() {
    let Some(fixture) = Fixture::new(2, Duration::from_secs(2)).await else { return };
    fixture.read(&fixture.affected).await.unwrap();
    fixture.block_worker().await;
    let unaffected = async {
        fixture.wait_for_blocked_read().await;
        for _ in 0..20 {
            fixture.read(&fixture.unaffected).await.unwrap();
        }
        assert_eq!(fixture.timeouts().await, 0);
    };
    let (affected, ()) = join(fixture.read(&fixture.affected), unaffected).await;
    assert_eq!(affected.unwrap_err().kind(), StorageErrorKind::Unavailable);
    assert_eq!(fixture.timeouts().await, 1);
    fixture.unblock_worker().await;
    fixture.read(&fixture.affected).await.unwrap();
    assert_eq!(fixture.timeouts().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_read_does_not_delay_others() {
    let Some(fixture) = Fixture::new(1, Duration::from_secs(60)).await else { return };
    fixture.block_worker().await;
    select(pin!(fixture.read(&fixture.affected)), pin!(fixture.wait_for_blocked_read())).await;
    fixture.read(&fixture.unaffected).await.unwrap();
    fixture.unblock_worker().await;
    fixture.read(&fixture.affected).await.unwrap();
}
