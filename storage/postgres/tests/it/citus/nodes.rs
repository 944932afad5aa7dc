//! Nodes that die, become unresponsive, return or are replaced, and independent writers.
//!
//! The cluster reaches one of its workers through a relay in this process, on a loopback address.

use std::time::Duration;

use catalogue_core::admin::{Account, AdminStorage, CredentialUse, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialStorage, KeyStorage, PageRequest, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_storage_conformance::sample;
use futures_util::future::join_all;
use tokio_postgres::Client;

use super::cluster::Citus;
use super::worker::Worker;
use crate::relay::State;
use crate::settings::link;

/// An account with a course and a key.
pub(super) struct Owner {
    pub(super) account: AccountId,
    key: NewCredential,
}

impl Owner {
    pub(super) async fn new(storage: &PostgresStorage, id: &str) -> Self {
        let account = AccountId::new(id);
        import(storage, &account, "first").await.unwrap();
        let (_, key) = NewCredential::api_key(account.clone(), "a key", Scopes::from_names(["read:courses"]));
        storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        Self { account, key }
    }

    /// Creates two owners: the first on another worker, the second on `worker`.
    async fn off_and_on(storage: &PostgresStorage, host: &Client, worker: &Worker) -> [Self; 2] {
        let create = async |on_worker: bool| {
            for number in 0.. {
                let id = format!("account_{number}");
                let group = "SELECT p.groupid FROM pg_dist_placement AS p WHERE p.shardid \
                             = get_shard_id_for_distribution_column('accounts', CAST($1 AS TEXT))";
                let group: i32 = host.query_one(group, &[&id]).await.unwrap().get(0);
                if (group == worker.group) == on_worker {
                    return Self::new(storage, &id).await;
                }
            }
            unreachable!()
        };
        [create(false).await, create(true).await]
    }

    /// Makes the reads of requests for the list and for a course.
    pub(super) async fn read(&self, storage: &PostgresStorage) -> Result<(), StorageError> {
        let found = storage.find_credential(&self.key.digest).await?;
        assert!(found.is_some(), "an existing key must never be reported as missing");
        assert!(!crate::items(storage, &self.account, &PageRequest::default()).await?.is_empty());
        assert!(storage.find_course(&self.account, "first").await?.value.is_some());
        Ok(())
    }

    pub(super) async fn revoke(&self, storage: &PostgresStorage) -> Result<(), StorageError> {
        let id = &self.key.record.identity.credential_id;
        assert!(storage.find_credential_record(id).await?.is_some());
        storage.revoke_key(&self.account, id, Timestamp::MAX, &Actor::OPERATOR).await.map(|_| ())
    }

    fn use_at(&self, at: i64) -> CredentialUse {
        let (account, credential_id) = (self.account.clone(), self.key.record.identity.credential_id.clone());
        CredentialUse { account, credential_id, at: Timestamp::from_microseconds(at).unwrap() }
    }

    async fn last_used(&self, storage: &PostgresStorage) -> Option<i64> {
        let keys = storage.list_keys(&self.account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
        keys[0].last_used_at.map(Timestamp::as_microseconds)
    }
}

pub(super) async fn import(storage: &PostgresStorage, account: &AccountId, slug: &str) -> Result<(), StorageError> {
    let mut import = storage.begin_import().await?;
    import.put_account(&Account { id: account.clone(), name: String::new(), email: String::new() }).await?;
    import.put_course(&sample::course(account.as_str(), slug)).await?;
    import.commit().await
}

pub(super) async fn open(citus: &Citus) -> PostgresStorage {
    citus.storage().await;
    PostgresStorage::open(&citus.options().deadline(Duration::from_secs(2))).await.unwrap()
}

/// Runs `check` with a worker behind the relay, and restores the cluster even if the check fails.
async fn with_worker<F>(check: impl FnOnce(Options, PostgresStorage, Client, Worker) -> F)
where
    F: Future<Output = Worker> + Send + 'static,
{
    let Some(citus) = Citus::new().await else { return };
    let storage = open(&citus).await;
    let worker = Worker::with_unnamed_account(&citus.host().await).await;
    let (id, (name, port)) = (worker.id, worker.at.clone());
    let done = tokio::spawn(check(citus.options(), storage, citus.host().await, worker)).await;
    let update = format!("SELECT citus_update_node({id}, '{name}', {port}, force => true, lock_cooldown => 100)");
    let host = citus.host().await;
    host.batch_execute(&update).await.unwrap();
    // The cluster would synchronize by itself in a minute, and reject new schemas until then.
    host.batch_execute("SELECT start_metadata_sync_to_all_nodes()").await.unwrap();
    done.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_worker_fails_only_its_own_accounts() {
    with_worker(async |options, storage, host, worker| {
        let [unaffected, affected] = Owner::off_and_on(&storage, &host, &worker).await;
        worker.relay.set_state(State::Dead);
        let failed = affected.read(&storage).await.unwrap_err();
        assert_eq!(failed.kind(), StorageErrorKind::Unavailable, "{failed}");
        unaffected.read(&storage).await.unwrap();
        let another = PostgresStorage::open(&options).await.unwrap();
        unaffected.read(&another).await.unwrap();
        let status = another.status().await.unwrap();
        assert!(status.is_distributed && status.error.is_none(), "{status:?}");
        import(&storage, &unaffected.account, "second").await.unwrap();
        assert!(storage.record_uses(&[affected.use_at(5), unaffected.use_at(5)]).await.is_err());
        assert_eq!(unaffected.last_used(&storage).await, Some(5));
        unaffected.revoke(&storage).await.unwrap();
        assert!(storage.find_credential(&unaffected.key.digest).await.unwrap().unwrap().revoked_at.is_some());
        storage.end_sign_ins(&unaffected.account, &Actor::OPERATOR).await.unwrap();
        assert!(affected.revoke(&storage).await.is_err());
        // `credential_accounts` is on every node, so a new credential waits for all nodes.
        let (_, key) = NewCredential::api_key(unaffected.account.clone(), "another", Scopes::default());
        let refused = storage.create_key(&key, &Actor::OPERATOR).await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Unavailable, "{refused}");

        worker.relay.set_state(State::Up);
        affected.read(&storage).await.unwrap();
        affected.revoke(&storage).await.unwrap();
        storage.create_key(&key, &Actor::OPERATOR).await.unwrap();
        worker
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unresponsive_worker_fails_own_accounts_until_replaced() {
    with_worker(async |_, storage, host, worker| {
        let [unaffected, affected] = Owner::off_and_on(&storage, &host, &worker).await;
        worker.relay.set_state(State::Unresponsive);
        // Fewer reads than the pool has connections, so some stay free for the other owner.
        let waiting = join_all((0..5).map(|_| affected.read(&storage)));
        let others = async {
            for number in 0..5 {
                unaffected.read(&storage).await.unwrap();
                import(&storage, &unaffected.account, &format!("other-{number}")).await.unwrap();
            }
            unaffected.revoke(&storage).await.unwrap();
        };
        let (failed, ()) = tokio::join!(waiting, others);
        for failed in failed {
            assert_eq!(failed.unwrap_err().kind(), StorageErrorKind::Unavailable);
        }
        // Bypass the relay, as if a promoted standby had replaced the worker.
        worker.route_to(&host, &worker.at.0, worker.at.1).await;
        affected.read(&storage).await.unwrap();
        import(&storage, &affected.account, "second").await.unwrap();
        affected.revoke(&storage).await.unwrap();
        worker
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_different_accounts_run_concurrently() {
    let Some(citus) = Citus::new().await else { return };
    let storage = open(&citus).await;
    let mut owners = Vec::new();
    for number in 0..8 {
        owners.push(Owner::new(&storage, &format!("account_{number}")).await);
    }
    let mut open = storage.begin_import().await.unwrap();
    open.put_course(&sample::course("account_0", "open")).await.unwrap();
    // A writer that waited for the open import would fail by its lock timeout.
    for (number, owner) in (0..).zip(&owners).skip(1) {
        import(&storage, &owner.account, "second").await.unwrap();
        storage.create_link(&link(owner.account.as_str(), number, 0), &Actor::OPERATOR).await.unwrap();
        owner.revoke(&storage).await.unwrap();
    }
    storage.revoke_tokens(&[TokenDigest::from_bytes([1; 32])], Timestamp::MAX, Timestamp::MIN).await.unwrap();
    open.commit().await.unwrap();
    assert!(storage.find_course(&owners[0].account, "open").await.unwrap().value.is_some());
}

#[tokio::test]
async fn lock_wait_on_worker_times_out() {
    let Some(citus) = Citus::new().await else { return };
    let storage = open(&citus).await.write_timeout(Duration::from_millis(100));
    let owner = Owner::new(&storage, "account").await;
    let host = citus.host().await;
    host.batch_execute("BEGIN; UPDATE credentials SET name = 'held' WHERE account_id = 'account'").await.unwrap();
    let refused = owner.revoke(&storage).await.unwrap_err();
    assert_eq!(refused.to_string(), "another program is writing to the same accounts; try again when it is done");
    host.batch_execute("ROLLBACK").await.unwrap();
    owner.revoke(&storage).await.unwrap();
}
