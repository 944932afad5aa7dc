//! Several hosts in an address: the primary is found wherever it is, and what was the primary is not read any more.

use std::ops::ControlFlow;
use std::time::Instant;

use catalogue_core::admin::{Accounts, AdminStorage};
use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio::task::block_in_place;

use crate::schema::Schema;
use crate::stress::{Pair, Report, account, ask, caught_up, control, title, wait_until, write};

#[track_caller]
fn assert_sound(report: &Report) {
    assert_eq!(report.wrong, Vec::<String>::new(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_takes_over_from_a_primary_that_is_killed() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let load = pair.load().await;
    let fault = Instant::now();
    block_in_place(|| pair.first.kill());
    control(&pair.second, &["promote"]);
    load.wait_for_success().await;
    assert_sound(&load.end(fault).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_comes_back_as_a_standby_is_not_read() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let load = pair.load().await;
    let fault = Instant::now();
    control(&pair.first, &["-m", "fast", "stop"]);
    control(&pair.second, &["promote"]);
    block_in_place(|| pair.first.follow(&pair.second));
    control(&pair.first, &["start"]);
    load.wait_for_success().await;
    assert_sound(&load.end(fault).await);
    // From here on a read of the first would be old.
    caught_up(&pair.second, &pair.first).await;
    ask(&pair.first, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
    for number in 0..20 {
        let written = number.to_string();
        write(&pair.storage, &written).await.unwrap();
        assert_eq!(title(&pair.storage).await.unwrap(), Some(written));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_takes_no_writes_any_more_is_left() {
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
        wait_until(async || ask(&first, "SHOW default_transaction_read_only").await == "off").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_alone_is_refused_unless_the_address_asks_for_one() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let address = pair.second.address("postgres");
    let refused = PostgresStorage::open(&Options::parse(&address).unwrap()).await.unwrap_err();
    let OpenError::Failed(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), StorageErrorKind::Unavailable);
    assert!(error.to_string().contains("name the primary"), "{error}");
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
    // The primary takes writes, and a standby alone was asked for.
    let both = pair.first.address_with(&[&pair.second], "postgres") + " target_session_attrs=read-only";
    let storage = PostgresStorage::open(&Schema::options_of(&both)).await.unwrap();
    ask(&pair.second, "SELECT CAST(pg_wal_replay_pause() AS TEXT)").await;
    write(&pair.storage, "new").await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("before"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_primaries_the_one_that_was_promoted_last_is_asked_while_it_answers() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    // The second takes over, and the first comes back as what it was.
    control(&pair.first, &["-m", "immediate", "stop"]);
    control(&pair.second, &["promote"]);
    wait_until(async || write(&pair.storage, "of the second").await.is_ok()).await;
    control(&pair.first, &["start"]);
    assert_eq!(ask(&pair.first, "SHOW transaction_read_only").await, "off");
    let title_in = async |cluster: &Cluster| {
        let alone = PostgresStorage::open(&Schema::options_of(&cluster.address("postgres"))).await.unwrap();
        title(&alone).await.unwrap().unwrap()
    };
    // Who knew the first, with new sessions, and who knows neither.
    ask(
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
    // There is no other primary then.
    block_in_place(|| pair.second.kill());
    for storage in [&pair.storage, &newcomer] {
        wait_until(async || write(storage, "of the first").await.is_ok()).await;
        assert_eq!(title(storage).await.unwrap().as_deref(), Some("of the first"));
    }
    assert_eq!(title_in(&pair.first).await, "of the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_with_a_primary_that_was_left_ends_once_the_new_one_is_known() {
    let Some(pair) = Pair::start(|options| options).await else { return };
    let storage = &pair.storage;
    assert_eq!(title(storage).await.unwrap().as_deref(), Some("before"));
    // Its sessions go on, and the first is still what it was.
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
