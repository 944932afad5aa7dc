//! An unresponsive host: its connections stay open, but nothing arrives over them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use futures_util::future::join_all;
use tokio::net::UnixStream;

use crate::relay::{Relay, State};
use crate::stress::{title, write};

/// Returns options for the relay as the first host, and the sockets of `others` after it.
fn options(relay: &Relay, others: &[&Path]) -> Options {
    let hosts: String = others.iter().map(|other| format!(",{}", other.display())).collect();
    let ports = format!("{}{}", relay.port, ",5432".repeat(others.len()));
    Options::parse(&format!("host=127.0.0.1{hosts} port={ports} user=postgres dbname=postgres")).unwrap()
}

/// Opens a storage over `connections` to a cluster behind a relay, with another cluster as the second host.
async fn two_hosts(connections: usize, deadline: Duration) -> Option<(PostgresStorage, Relay, [Cluster; 2])> {
    Cluster::shared()?;
    let clusters = [Cluster::start().unwrap(), Cluster::start().unwrap()];
    for (cluster, title) in clusters.iter().zip(["first", "second"]) {
        let options = Options::parse(&cluster.address("postgres")).unwrap();
        write(&PostgresStorage::open_and_migrate(&options).await.unwrap(), title).await.unwrap();
    }
    let socket = clusters[0].directory.join(".s.PGSQL.5432");
    let relay = Relay::start(move || UnixStream::connect(socket.clone())).await;
    let options = options(&relay, &[&clusters[1].directory]);
    let options = options.connections(NonZeroUsize::new(connections).unwrap()).deadline(deadline);
    let storage = PostgresStorage::open(&options).await.unwrap();
    for title in join_all((0..connections).map(|_| title(&storage))).await {
        assert_eq!(title.unwrap().as_deref(), Some("first"));
    }
    Some((storage, relay, clusters))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_first_read_waits_for_unresponsive_host() {
    let Some((storage, relay, _clusters)) = two_hosts(5, Duration::from_secs(8)).await else { return };
    relay.set_state(State::Unresponsive);
    assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_reads_time_out_once_for_unresponsive_host() {
    let Some((storage, relay, _clusters)) = two_hosts(5, Duration::from_secs(8)).await else { return };
    relay.set_state(State::Unresponsive);
    let first = join_all((0..5).map(|_| title(&storage))).await;
    assert!(first.iter().any(Result::is_err), "{first:?}");
    // Reads that had no connection yet have opened one to the next host.
    for title in first {
        match title {
            Ok(title) => assert_eq!(title.as_deref(), Some("second")),
            Err(error) => assert_eq!(error.kind(), StorageErrorKind::Unavailable),
        }
    }
    for title in join_all((0..20).map(|_| title(&storage))).await {
        assert_eq!(title.unwrap().as_deref(), Some("second"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recovered_host_is_used_again() {
    let Some((storage, relay, [_first, second])) = two_hosts(2, Duration::from_secs(5)).await else { return };
    second.kill();
    relay.set_state(State::Unresponsive);
    for _ in 0..2 {
        assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    }
    relay.set_state(State::Up);
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("first"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_session_skips_unresponsive_host() {
    let Some((_, relay, clusters)) = two_hosts(1, Duration::from_secs(5)).await else { return };
    relay.set_state(State::Unresponsive);
    let options = options(&relay, &[Path::new("/nowhere"), &clusters[1].directory]);
    let storage = PostgresStorage::open(&options).await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    write(&storage, "new").await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("new"));
}
