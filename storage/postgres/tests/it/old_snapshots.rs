//! What keeps rows in the tables that nobody needs any more is told.

use std::time::Duration;

use catalogue_postgres::{OldSnapshot, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use tokio_postgres::{Client, NoTls};

use crate::drill::in_time;
use crate::schema::Schema;

const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM accounts";
const HOUR: Duration = Duration::from_secs(3600);

async fn session(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The snapshots of that age or so many transactions whose holder is called like that.
async fn held(storage: &PostgresStorage, holder: &str, age: Duration, transactions: u32) -> Vec<OldSnapshot> {
    let mut held = storage.old_snapshots(age, transactions).await.unwrap();
    held.retain(|snapshot| snapshot.holder.contains(holder));
    held
}

/// A cluster of its own: others hold snapshots in the shared one.
async fn cluster() -> Option<(Cluster, PostgresStorage)> {
    Cluster::shared()?;
    let cluster = Cluster::start().unwrap();
    cluster.configure(&["max_prepared_transactions = 2", "autovacuum = off"]);
    cluster.control(&["restart"]);
    let storage = PostgresStorage::open_and_migrate(&Schema::options_of(&cluster.address("postgres"))).await.unwrap();
    Some((cluster, storage))
}

#[tokio::test]
async fn a_transaction_that_is_open_is_told_with_its_application_and_without_its_query() {
    let Some((cluster, storage)) = cluster().await else { return };
    let address = cluster.address("postgres") + " application_name=dump";
    let (host, other) = (session(&address).await, session(&address).await);
    assert_eq!(held(&storage, "dump", Duration::ZERO, 0).await, []);
    // One without a snapshot keeps nothing.
    other.batch_execute("BEGIN; SELECT 's3cret'").await.unwrap();
    host.batch_execute(&format!("{SNAPSHOT} WHERE name <> 's3cret'")).await.unwrap();
    let process: i32 = host.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let told = held(&storage, "", Duration::ZERO, 0).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].holder, format!("the session {process} of dump"));
    assert!(told[0].age.is_some_and(|age| age < HOUR), "{told:?}");
    assert_eq!(held(&storage, "", HOUR, 0).await, [], "it is not as old");
    host.batch_execute("COMMIT").await.unwrap();
    assert_eq!(held(&storage, "", Duration::ZERO, 0).await, []);

    other
        .batch_execute("COMMIT; BEGIN; INSERT INTO accounts (id) VALUES ('a'); PREPARE TRANSACTION 'gone'")
        .await
        .unwrap();
    let told = held(&storage, "", Duration::ZERO, 0).await;
    assert_eq!(told.iter().map(|one| &*one.holder).collect::<Vec<_>>(), ["the prepared transaction gone"]);
    assert!(told[0].age.is_some(), "{told:?}");
}

#[tokio::test]
async fn what_a_role_may_not_see_the_age_of_is_told_by_transactions() {
    let Some((cluster, storage)) = cluster().await else { return };
    let host = session(&(cluster.address("postgres") + " application_name=dump")).await;
    host.batch_execute("CREATE ROLE plain LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain").await.unwrap();
    let address = cluster.address("postgres").replace("user=postgres", "user=plain");
    let plain = PostgresStorage::open(&Schema::options_of(&address)).await.unwrap();
    host.batch_execute(SNAPSHOT).await.unwrap();
    let writer = session(&cluster.address("postgres")).await;
    for id in 0..7 {
        writer.batch_execute(&format!("INSERT INTO accounts (id) VALUES ('{id}')")).await.unwrap();
    }
    let told = held(&plain, "dump", Duration::ZERO, 7).await;
    assert_eq!((told.len(), told[0].age, told[0].transactions), (1, None, 7), "{told:?}");
    assert_eq!(held(&plain, "dump", Duration::ZERO, 8).await, []);
    assert_eq!(held(&storage, "dump", Duration::ZERO, 8).await.len(), 1, "who sees the age goes by it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_standby_still_reads_is_told() {
    let Some((cluster, storage)) = cluster().await else { return };
    let standby = cluster.standby().unwrap();
    standby.configure(&["hot_standby_feedback = on", "wal_receiver_status_interval = 1s"]);
    standby.control(&["restart"]);
    let reader = session(&standby.address("postgres")).await;
    reader.batch_execute(SNAPSHOT).await.unwrap();
    in_time(async || held(&storage, "of walreceiver", HOUR, 0).await.len() == 1).await;

    let writer = session(&cluster.address("postgres")).await;
    writer.batch_execute("SELECT pg_create_physical_replication_slot('held')").await.unwrap();
    standby.configure(&["primary_slot_name = 'held'"]);
    standby.control(&["reload"]);
    in_time(async || held(&storage, "the replication slot held", HOUR, 0).await.len() == 1).await;
}
