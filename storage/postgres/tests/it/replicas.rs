//! Standbys that the request path reads from: as long as they are near the primary, and not any longer.

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
use crate::stress::{Pair, account, ask, caught_up, control, title, wait_until, write};

/// Longer than anything here takes.
const LONG_LAG: Duration = Duration::from_secs(3600);
/// As short as a loaded machine allows.
const SHORT_LAG: Duration = Duration::from_secs(2);

/// A storage that reads from the second of the pair.
async fn storage(pair: &Pair, max_replica_lag: Duration) -> PostgresStorage {
    let options = Schema::options_of(&pair.first.address("postgres"));
    let options = options.replica(&pair.second.address("postgres")).unwrap().max_replica_lag(max_replica_lag);
    PostgresStorage::open(&options).await.unwrap()
}

async fn is_read(storage: &PostgresStorage) -> bool {
    storage.status().await.unwrap().replicas[0].in_rotation
}

async fn pause(cluster: &Cluster) {
    ask(cluster, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_is_read_until_it_is_too_far_behind() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = storage(&pair, SHORT_LAG).await;
    wait_until(async || is_read(&storage).await).await;
    pause(&pair.second).await;
    write(&storage, "written").await.unwrap();
    // From the replica, and then from the primary, since the replica stays behind.
    wait_until(async || title(&storage).await.unwrap().as_deref() == Some("written")).await;
    let status = storage.status().await.unwrap();
    assert!(!status.replicas[0].in_rotation && status.replicas[0].reachable, "{status:?}");
    assert!(status.replicas[0].lag.is_some_and(|lag| lag > SHORT_LAG), "{status:?}");
    ask(&pair.second, "SELECT CAST(pg_wal_replay_resume() AS TEXT)").await;
    wait_until(async || is_read(&storage).await).await;
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("written"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_is_what_is_read_and_what_it_lacks_comes_from_the_primary() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = storage(&pair, LONG_LAG).await;
    wait_until(async || is_read(&storage).await).await;
    pause(&pair.second).await;
    write(&storage, "written").await.unwrap();
    for _ in 0..5 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
    // A new key is never refused, and administration sees what it has done.
    let (_, credential) = NewCredential::api_key(account(), "new", Scopes::from_names(["read:courses"]));
    storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
    assert!(storage.find_credential(&credential.digest).await.unwrap().is_some());
    assert_eq!(storage.list_keys(&account(), Timestamp::MAX, usize::MAX).await.unwrap().unwrap().len(), 2);
    assert_eq!(storage.revision(&AccountId::new("nobody")).await.unwrap(), None);
    // A token that is not revoked is asked of the replica alone, as a key that is there.
    let token = NewCredential::api_key(account(), "", Scopes::default()).1.digest;
    storage.revoke_tokens(&[token], Timestamp::MAX, Timestamp::now()).await.unwrap();
    assert_eq!(storage.is_revoked(&token).await.unwrap(), Some(false));
    // With the primary away nobody knows whether there is none.
    control(&pair.first, &["-m", "immediate", "stop"]);
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    let unknown = storage.find_credential(&NewCredential::api_key(account(), "", Scopes::default()).1.digest).await;
    assert_eq!(unknown.unwrap_err().kind(), StorageErrorKind::Unavailable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_whose_stream_is_cut_is_as_old_as_it_is() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = storage(&pair, SHORT_LAG).await;
    wait_until(async || is_read(&storage).await).await;
    // It would say itself that it has replayed all that it was sent.
    pair.second.configure(&["primary_conninfo = 'host=/nowhere'"]);
    control(&pair.second, &["reload"]);
    wait_until(async || ask(&pair.first, "SELECT CAST(count(*) AS TEXT) FROM pg_stat_replication").await == "0").await;
    write(&storage, "written").await.unwrap();
    wait_until(async || title(&storage).await.unwrap().as_deref() == Some("written")).await;
    for _ in 0..5 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("written"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_are_not_read_when_the_primary_is_away_for_longer_than_the_bound() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = storage(&pair, SHORT_LAG).await;
    wait_until(async || is_read(&storage).await).await;
    control(&pair.first, &["-m", "fast", "stop"]);
    wait_until(async || title(&storage).await.is_err()).await;
    assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    assert!(storage.status().await.unwrap().error.is_some());
    control(&pair.first, &["start"]);
    wait_until(async || is_read(&storage).await).await;
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_goes_away_or_is_promoted_leaves_the_reads_to_the_others() {
    let Some(pair) = Pair::start(|options| options).await else { return };
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
    // The one that was promoted has its own state from now on.
    let promoted = PostgresStorage::open(&Schema::options_of(&pair.second.address("postgres"))).await.unwrap();
    write(&promoted, "elsewhere").await.unwrap();
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_of_another_database_is_never_read() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let Some(other) = Pair::start(|options| options).await else { return };
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
async fn a_revoked_key_is_refused_once_the_replica_knows() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = storage(&pair, LONG_LAG).await;
    let (_, credential) = NewCredential::api_key(account(), "new", Scopes::from_names(["read:courses"]));
    storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
    caught_up(&pair.first, &pair.second).await;
    wait_until(async || is_read(&storage).await).await;
    let id = &credential.record.identity.credential_id;
    storage.revoke_key(&account(), id, Timestamp::now(), &Actor::OPERATOR).await.unwrap();
    storage.revoke_tokens(&[credential.digest], Timestamp::MAX, Timestamp::now()).await.unwrap();
    caught_up(&pair.first, &pair.second).await;
    assert!(storage.find_credential(&credential.digest).await.unwrap().unwrap().revoked_at.is_some());
    assert_eq!(storage.is_revoked(&credential.digest).await.unwrap(), Some(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_sessions_and_events_are_never_asked_of_a_standby() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let replicated = storage(&pair, LONG_LAG).await;
    wait_until(async || is_read(&replicated).await).await;
    // This address would have all else read from the standby.
    let standby = pair.second.address_with(&[&pair.first], "postgres");
    let options = Schema::options_of(&format!("{standby} target_session_attrs=read-only"));
    let of_standby = PostgresStorage::open(&options).await.unwrap();
    pause(&pair.second).await;
    write(&replicated, "written").await.unwrap();

    for (number, storage) in [(1, &replicated), (2, &of_standby)] {
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
    for storage in [&replicated, &of_standby] {
        let away = storage.find_session(&digest(101)).await.unwrap_err();
        assert_eq!(away.kind(), StorageErrorKind::Unavailable, "{away}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_of_the_server_that_was_left_by_a_failover_is_never_read() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let left = pair.second.address("postgres");
    // The first goes on with the second behind it, and the third is the primary now.
    let third = block_in_place(|| pair.first.standby()).unwrap();
    control(&third, &["promote"]);
    write(&pair.storage, "in what was left").await.unwrap();
    caught_up(&pair.first, &pair.second).await;
    for _ in 0..2 {
        ask(&pair.first, "SELECT CAST(pg_switch_wal() AS TEXT)").await;
    }
    // One that is as it ought to be shows when the servers were asked.
    let sound = block_in_place(|| third.standby()).unwrap();
    let options = Schema::options_of(&third.address("postgres")).max_replica_lag(LONG_LAG);
    let options = options.replica(&left).unwrap().replica(&sound.address("postgres")).unwrap();
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
