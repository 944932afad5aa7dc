//! Reads of some accounts that get no answer, as from a worker that is silent.
//!
//! On PostgreSQL: keys are read from a view that waits for a lock where the account would be on one of the shards of a worker.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::admin::{Account, AdminStorage, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{Actor, CredentialStorage, KeyStorage, StorageError, StorageErrorKind};
use catalogue_postgres::{Options, PostgresStorage};
use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use futures_util::future::{join_all, select};
use futures_util::stream::FuturesUnordered;
use tokio_postgres::Client;

use super::on_postgresql;
use crate::drill::in_time;
use crate::schema::Schema;

/// Half of the shards are that worker's: those of the upper half of the hash, as Citus deals them out.
const WORKER: &str = "
    CREATE FUNCTION reach(account TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
        IF hashtext(account) >= 0 THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
        RETURN TRUE;
    END $$;
    ALTER TABLE credentials RENAME TO stored;
    CREATE VIEW credentials AS SELECT * FROM stored WHERE reach(account_id)";

/// Keys of accounts on that worker, and of others, in a storage that reads over so many connections.
struct Scene {
    far: Vec<TokenDigest>,
    near: Vec<TokenDigest>,
    storage: PostgresStorage,
    host: Client,
    schema: Schema,
}

impl Scene {
    async fn new(connections: usize, deadline: Duration) -> Option<Self> {
        let schema = Schema::new().await?;
        let (storage, host) = (on_postgresql(&schema).await, schema.host().await);
        let (mut far, mut near) = (Vec::new(), Vec::new());
        for number in 0..12 {
            let id = AccountId::new(format!("account_{number}"));
            let mut import = storage.begin_import().await.unwrap();
            import.put_account(&Account { id: id.clone(), name: String::new(), email: String::new() }).await.unwrap();
            import.commit().await.unwrap();
            let (_, key) = NewCredential::api_key(id.clone(), "a key", Scopes::default());
            storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
            let is_far = host.query_one("SELECT hashtext($1) >= 0", &[&id.as_str()]).await.unwrap().get(0);
            if is_far { &mut far } else { &mut near }.push(key.digest);
        }
        assert!((3..=9).contains(&far.len()), "{}", far.len());
        host.batch_execute(WORKER).await.unwrap();
        let options = Options::parse(schema.address()).unwrap();
        let options = options.connections(NonZeroUsize::new(connections).unwrap()).deadline(deadline);
        let storage = PostgresStorage::open(&options).await.unwrap();
        Some(Self { far, near, storage, host, schema })
    }

    async fn worker_is_silent(&self) {
        self.host.batch_execute("SELECT pg_advisory_lock(7)").await.unwrap();
    }

    async fn worker_answers(&self) {
        self.host.batch_execute("SELECT pg_advisory_unlock(7)").await.unwrap();
    }

    async fn read(&self, key: &TokenDigest) -> Result<(), StorageError> {
        self.storage.find_credential(key).await.map(|found| assert!(found.is_some()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_connections_wait_for_a_silent_worker_and_the_others_serve_other_accounts() {
    let Some(scene) = Scene::new(10, Duration::from_secs(10)).await else { return };
    // The sessions are open already: a read that gets its connection late tells nothing of its shard.
    for answered in join_all(scene.far.iter().map(|key| scene.read(key))).await {
        answered.unwrap();
    }
    scene.worker_is_silent().await;
    // Each shard is found out by a read.
    for failed in join_all(scene.far.iter().map(|key| scene.read(key))).await {
        assert_eq!(failed.unwrap_err().kind(), StorageErrorKind::Unavailable);
    }
    let mut reads: FuturesUnordered<_> = scene.far.iter().cycle().take(50).map(|key| scene.read(key)).collect();
    for _ in 0..48 {
        let refused = reads.next().await.unwrap().unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Unavailable);
        assert!(refused.to_string().contains("others wait for it already"), "{refused}");
    }
    for key in scene.near.iter().cycle().take(50) {
        scene.read(key).await.unwrap();
    }
    assert!(reads.next().now_or_never().is_none(), "two still wait");
    scene.worker_answers().await;
    for _ in 0..2 {
        reads.next().await.unwrap().unwrap();
    }
    for answered in join_all(scene.far.iter().map(|key| scene.read(key))).await {
        answered.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_gave_up_holds_up_no_other() {
    let Some(scene) = Scene::new(1, Duration::from_secs(60)).await else { return };
    scene.worker_is_silent().await;
    {
        let waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
        let name = scene.schema.name();
        let it_waits = in_time(async || !scene.host.query(waits, &[&name]).await.unwrap().is_empty());
        select(pin!(scene.read(&scene.far[0])), pin!(it_waits)).await;
    }
    scene.read(&scene.near[0]).await.unwrap();
    scene.worker_answers().await;
    scene.read(&scene.far[0]).await.unwrap();
}
