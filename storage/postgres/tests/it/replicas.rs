//! Reads from replicas, only while their lag is within the limit.

use std::time::Duration;

use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{
    Actor, CourseStorage, CredentialAction, CredentialStorage, KeyStorage, SignInStorage, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::PostgresStorage;
use catalogue_postgres_cluster::Cluster;
use tokio::task::block_in_place;

use crate::schema::Schema;
use crate::settings::{digest, link, session};
use crate::stress::{Pair, account, caught_up, control, sql, title, wait_until, write};

/// Lag limit that no replica exceeds: longer than any test here takes.
const LONG_LAG: Duration = Duration::from_secs(3600);
/// Lag limit for replicas that exceed it: as short as a loaded machine allows.
const SHORT_LAG: Duration = Duration::from_secs(2);

/// Starts both servers, and opens a storage that reads from the second one, which is in rotation.
async fn replicated(max_replica_lag: Duration) -> Option<(Pair, PostgresStorage)> {
    let pair = Pair::start().await?;
    let options = Schema::options_of(&pair.first.address("postgres"));
    let options = options.replica(&pair.second.address("postgres")).unwrap().max_replica_lag(max_replica_lag);
    let storage = PostgresStorage::open(&options).await.unwrap();
    wait_until(async || is_in_rotation(&storage).await).await;
    Some((pair, storage))
}

async fn is_in_rotation(storage: &PostgresStorage) -> bool {
    storage.status().await.unwrap().replicas[0].in_rotation
}

async fn pause(cluster: &Cluster) {
    sql(cluster, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
}

async fn resume(cluster: &Cluster) {
    sql(cluster, "SELECT CAST(pg_wal_replay_resume() AS TEXT)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replica_is_read_until_it_lags_too_far() {
    let Some((pair, storage)) = replicated(SHORT_LAG).await else { return };
    pause(&pair.second).await;
    write(&storage, "written").await.unwrap();
    // The replica serves reads until its lag exceeds the limit, then the primary does.
    wait_until(async || title(&storage).await.unwrap().as_deref() == Some("written")).await;
    let status = storage.status().await.unwrap();
    assert!(!status.replicas[0].in_rotation && status.replicas[0].reachable, "{status:?}");
    assert!(status.replicas[0].lag.is_some_and(|lag| lag > SHORT_LAG), "{status:?}");
    resume(&pair.second).await;
    wait_until(async || is_in_rotation(&storage).await).await;
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("written"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_use_replica_and_fall_back_to_primary() {
    let Some((pair, storage)) = replicated(LONG_LAG).await else { return };
    pause(&pair.second).await;
    write(&storage, "written").await.unwrap();
    for _ in 0..5 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
    // A new key is found immediately, and administration reads its own writes.
    let (_, credential) = NewCredential::api_key(account(), "new", Scopes::from_names(["read:courses"]));
    storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
    assert!(storage.find_credential(&credential.digest).await.unwrap().is_some());
    assert_eq!(storage.list_keys(&account(), Timestamp::MAX, usize::MAX).await.unwrap().unwrap().len(), 2);
    assert_eq!(storage.revision(&AccountId::new("nobody")).await.unwrap(), None);
    // The replica lacks the revocation, but returns a row as for an existing key, so the primary is not queried.
    let token = NewCredential::api_key(account(), "", Scopes::default()).1.digest;
    storage.revoke_tokens(&[token], Timestamp::MAX, Timestamp::now()).await.unwrap();
    assert_eq!(storage.is_revoked(&token).await.unwrap(), Some(false));
    // Once replicated, revocations take effect.
    let id = &credential.record.identity.credential_id;
    storage.revoke_key(&account(), id, Timestamp::now(), &Actor::OPERATOR).await.unwrap();
    resume(&pair.second).await;
    caught_up(&pair.first, &pair.second).await;
    assert!(storage.find_credential(&credential.digest).await.unwrap().unwrap().revoked_at.is_some());
    assert_eq!(storage.is_revoked(&token).await.unwrap(), Some(true));
    // Without the primary, a key that the replica lacks may still exist.
    control(&pair.first, &["-m", "immediate", "stop"]);
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("written"));
    let unknown = storage.find_credential(&NewCredential::api_key(account(), "", Scopes::default()).1.digest).await;
    assert_eq!(unknown.unwrap_err().kind(), StorageErrorKind::Unavailable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replica_without_stream_leaves_rotation() {
    let Some((pair, storage)) = replicated(SHORT_LAG).await else { return };
    // The replica itself would report that it has replayed all that it received.
    pair.second.configure(&["primary_conninfo = 'host=/nowhere'"]);
    control(&pair.second, &["reload"]);
    wait_until(async || sql(&pair.first, "SELECT CAST(count(*) AS TEXT) FROM pg_stat_replication").await == "0").await;
    write(&storage, "written").await.unwrap();
    wait_until(async || title(&storage).await.unwrap().as_deref() == Some("written")).await;
    for _ in 0..5 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("written"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_leave_rotation_when_primary_is_unreachable() {
    let Some((pair, storage)) = replicated(SHORT_LAG).await else { return };
    control(&pair.first, &["-m", "fast", "stop"]);
    wait_until(async || title(&storage).await.is_err()).await;
    assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    assert!(storage.status().await.unwrap().error.is_some());
    control(&pair.first, &["start"]);
    wait_until(async || is_in_rotation(&storage).await).await;
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_or_promoted_replica_leaves_rotation() {
    let Some(pair) = Pair::start().await else { return };
    let third = block_in_place(|| pair.first.standby()).unwrap();
    let options = Schema::options_of(&pair.first.address("postgres")).max_replica_lag(LONG_LAG);
    let options = options.replica(&pair.second.address_with(&[&third], "postgres")).unwrap();
    let storage = PostgresStorage::open(&options).await.unwrap();
    wait_until(async || storage.status().await.unwrap().replicas.iter().all(|replica| replica.in_rotation)).await;
    block_in_place(|| third.kill());
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
    control(&pair.second, &["promote"]);
    wait_until(async || storage.status().await.unwrap().replicas.iter().all(|replica| !replica.in_rotation)).await;
    // The promoted replica diverges from now on.
    let promoted = PostgresStorage::open(&Schema::options_of(&pair.second.address("postgres"))).await.unwrap();
    write(&promoted, "elsewhere").await.unwrap();
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_of_other_database_is_never_read() {
    let Some(pair) = Pair::start().await else { return };
    let Some(other) = Pair::start().await else { return };
    write(&other.storage, "of another").await.unwrap();
    caught_up(&other.first, &other.second).await;
    let options = Schema::options_of(&pair.first.address("postgres")).max_replica_lag(LONG_LAG);
    let options = options.replica(&other.second.address_with(&[&pair.second], "postgres")).unwrap();
    let storage = PostgresStorage::open(&options).await.unwrap();
    wait_until(async || {
        let replicas = storage.status().await.unwrap().replicas;
        replicas[1].in_rotation && replicas[0].reachable
    })
    .await;
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
    assert!(!storage.status().await.unwrap().replicas[0].in_rotation);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_sessions_and_events_are_never_read_from_standby() {
    let Some((pair, replicated)) = replicated(LONG_LAG).await else { return };
    // With this connection string, reads of the request path go to the standby.
    let standby = pair.second.address_with(&[&pair.first], "postgres");
    let options = Schema::options_of(&format!("{standby} target_session_attrs=read-only"));
    let standby_storage = PostgresStorage::open(&options).await.unwrap();
    pause(&pair.second).await;
    write(&replicated, "written").await.unwrap();

    for (number, storage) in [(1, &replicated), (2, &standby_storage)] {
        assert_eq!(title(storage).await.unwrap().as_deref(), Some("before"));
        let account = account();
        let before = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap().len();
        let (_, key) = NewCredential::api_key(account.clone(), "new", Scopes::default());
        storage.create_key(&key, &Actor::OWNER).await.unwrap();
        assert_eq!(storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap().len(), before + 1);
        storage.create_link(&link(account.as_str(), number, 0), &Actor::OPERATOR).await.unwrap();
        let begun = session(number + 100, 0);
        assert!(storage.exchange_link(&digest(number), begun.created_at, &begun).await.unwrap().is_some());
        assert!(storage.find_session(&begun.digest).await.unwrap().is_some());
        storage.end_session(&begun.digest).await.unwrap();
        assert_eq!(storage.find_session(&begun.digest).await.unwrap(), None);
        let last = storage.list_events(&account, 1).await.unwrap();
        assert_eq!(last[0].action, CredentialAction::SignedOut);
    }
    control(&pair.first, &["-m", "immediate", "stop"]);
    for storage in [&replicated, &standby_storage] {
        let error = storage.find_session(&digest(101)).await.unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Unavailable, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_of_former_primary_is_never_read() {
    let Some(pair) = Pair::start().await else { return };
    let former = pair.second.address("postgres");
    // The first continues as a primary with the second as its standby, and the third is the current primary.
    let third = block_in_place(|| pair.first.standby()).unwrap();
    control(&third, &["promote"]);
    write(&pair.storage, "in former primary").await.unwrap();
    caught_up(&pair.first, &pair.second).await;
    for _ in 0..2 {
        sql(&pair.first, "SELECT CAST(pg_switch_wal() AS TEXT)").await;
    }
    // The lag of a valid replica shows how often the servers were queried.
    let valid = block_in_place(|| third.standby()).unwrap();
    let options = Schema::options_of(&third.address("postgres")).max_replica_lag(LONG_LAG);
    let options = options.replica(&former).unwrap().replica(&valid.address("postgres")).unwrap();
    let storage = PostgresStorage::open(&options).await.unwrap();
    let (mut last, mut renewed) = (None, 0);
    wait_until(async || {
        let replicas = storage.status().await.unwrap().replicas;
        assert!(!replicas[0].in_rotation && replicas[0].lag.is_none(), "{replicas:?}");
        renewed += usize::from(replicas[1].lag < last);
        last = replicas[1].lag;
        replicas[0].reachable && replicas[1].in_rotation && renewed >= 3
    })
    .await;
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
}
