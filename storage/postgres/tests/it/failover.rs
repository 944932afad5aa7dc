//! Failover with several hosts in a connection string: the current primary is found, and the former one is no longer read.

use std::ops::ControlFlow;

use catalogue_core::admin::{Accounts, AdminStorage};
use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio::task::block_in_place;

use crate::schema::Schema;
use crate::stress::{Pair, account, caught_up, control, sql, title, wait_until, write};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promoted_standby_replaces_killed_primary() {
    let Some(pair) = Pair::start().await else { return };
    let load = pair.load().await;
    block_in_place(|| pair.first.kill());
    control(&pair.second, &["promote"]);
    load.wait_for_success().await;
    assert_eq!(load.end().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn former_primary_is_not_read_as_standby() {
    let Some(pair) = Pair::start().await else { return };
    let load = pair.load().await;
    control(&pair.first, &["-m", "fast", "stop"]);
    control(&pair.second, &["promote"]);
    block_in_place(|| pair.first.follow(&pair.second));
    control(&pair.first, &["start"]);
    load.wait_for_success().await;
    assert_eq!(load.end().await, Vec::<String>::new());
    // From here on, a read from the old primary would be stale.
    caught_up(&pair.second, &pair.first).await;
    sql(&pair.first, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
    for number in 0..20 {
        let written = number.to_string();
        write(&pair.storage, &written).await.unwrap();
        assert_eq!(title(&pair.storage).await.unwrap(), Some(written));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_primary_is_abandoned() {
    if Cluster::shared().is_none() {
        return;
    }
    let (first, second) = (Cluster::start().unwrap(), Cluster::start().unwrap());
    for (cluster, title) in [(&second, "second"), (&first, "first")] {
        let storage = PostgresStorage::open_and_migrate(&Schema::options_of(&cluster.address("postgres"))).await;
        write(&storage.unwrap(), title).await.unwrap();
    }
    for through_pooler in [false, true] {
        let mut options = Schema::options_of(&first.address_with(&[&second], "postgres"));
        if through_pooler {
            options = options.through_transaction_pooler();
        }
        let storage = PostgresStorage::open(&options).await.unwrap();
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("first"));
        first.configure(&["default_transaction_read_only = on"]);
        control(&first, &["reload"]);
        wait_until(async || title(&storage).await.unwrap().as_deref() == Some("second")).await;
        first.configure(&["default_transaction_read_only = off"]);
        control(&first, &["reload"]);
        wait_until(async || sql(&first, "SHOW default_transaction_read_only").await == "off").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lone_standby_is_refused_unless_options_allow_it() {
    let Some(pair) = Pair::start().await else { return };
    let address = pair.second.address("postgres");
    let refused = PostgresStorage::open(&Options::parse(&address).unwrap()).await.unwrap_err();
    let OpenError::Failed(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), StorageErrorKind::Unavailable);
    assert!(error.to_string().contains("use the primary"), "{error}");
    for target in ["any", "read-only"] {
        let options = Options::parse(&format!("{address} target_session_attrs={target}")).unwrap();
        let storage = PostgresStorage::open(&options).await.unwrap();
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
        let mut keys = 0;
        let mut visit = |_| {
            keys += 1;
            ControlFlow::Continue(())
        };
        storage.visit_credentials(Accounts::Only(&[account()]), &mut visit).await.unwrap();
        assert_eq!(keys, 1);
        let refused = write(&storage, "new").await.unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Unavailable, "{refused}");
    }
    // Writes go to the primary; reads go to the standby, as the connection string requests one.
    let both = pair.first.address_with(&[&pair.second], "postgres") + " target_session_attrs=read-only";
    let storage = PostgresStorage::open(&Schema::options_of(&both)).await.unwrap();
    sql(&pair.second, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
    write(&pair.storage, "new").await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_promoted_primary_is_preferred_while_reachable() {
    let Some(pair) = Pair::start().await else { return };
    // The second takes over, and the first returns as a primary.
    control(&pair.first, &["-m", "immediate", "stop"]);
    control(&pair.second, &["promote"]);
    wait_until(async || write(&pair.storage, "of the second").await.is_ok()).await;
    control(&pair.first, &["start"]);
    assert_eq!(sql(&pair.first, "SHOW transaction_read_only").await, "off");
    let title_in = async |cluster: &Cluster| {
        let single = PostgresStorage::open(&Schema::options_of(&cluster.address("postgres"))).await.unwrap();
        title(&single).await.unwrap().unwrap()
    };
    // End the sessions of the storage that knew the first. Then it must choose the second, and so must a new storage.
    sql(
        &pair.second,
        "SELECT CAST(count(pg_terminate_backend(pid)) AS TEXT) FROM pg_stat_activity \
         WHERE application_name = 'catalogue'",
    )
    .await;
    let newcomer = Schema::options_of(&pair.first.address_with(&[&pair.second], "postgres"));
    let newcomer = PostgresStorage::open(&newcomer).await.unwrap();
    for storage in [&pair.storage, &newcomer] {
        wait_until(async || title(storage).await.is_ok()).await;
        assert_eq!(title(storage).await.unwrap().as_deref(), Some("of the second"));
        write(storage, "of the second").await.unwrap();
    }
    assert_ne!(title_in(&pair.first).await, "of the second");
    // Now the first is the only primary.
    block_in_place(|| pair.second.kill());
    for storage in [&pair.storage, &newcomer] {
        wait_until(async || write(storage, "of the first").await.is_ok()).await;
        assert_eq!(title(storage).await.unwrap().as_deref(), Some("of the first"));
    }
    assert_eq!(title_in(&pair.first).await, "of the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_with_former_primary_end_after_promotion() {
    let Some(pair) = Pair::start().await else { return };
    let storage = &pair.storage;
    assert_eq!(title(storage).await.unwrap().as_deref(), Some("before"));
    // Existing sessions stay open, and the first is still a primary.
    control(&pair.second, &["promote"]);
    pair.first.configure(&["default_transaction_read_only = on"]);
    control(&pair.first, &["reload"]);
    wait_until(async || write(storage, "of the second").await.is_ok()).await;
    pair.first.configure(&["default_transaction_read_only = off"]);
    control(&pair.first, &["reload"]);
    wait_until(async || title(storage).await.unwrap().as_deref() == Some("of the second")).await;
    for _ in 0..20 {
        assert_eq!(title(storage).await.unwrap().as_deref(), Some("of the second"));
    }
}
