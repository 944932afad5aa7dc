//! An unresponsive host: its connections stay open, but nothing arrives over them.

use std::num::NonZeroUsize;
use std::path::Path;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use futures_util::future::join_all;
use tokio::net::UnixStream;

use crate::relay::{Relay, State};
use crate::schema::Schema;
use crate::stress::{title, write};

/// Returns options for the relay as the first host, and the sockets of `others` after it.
fn options(relay: &Relay, others: &[&Path]) -> Options {
    let hosts: String = others.iter().map(|other| format!(",{}", other.display())).collect();
    let ports = format!("{}{}", relay.port, ",5432".repeat(others.len()));
    Schema::options_of(&format!("host=127.0.0.1{hosts} port={ports} user=postgres dbname=postgres"))
}

/// Opens a storage over `connections` to a cluster behind a relay, with another cluster as the second host.
async fn two_hosts(connections: usize) -> Option<(PostgresStorage, Relay, [Cluster; 2])> {
    Cluster::shared()?;
    let clusters = [Cluster::start().unwrap(), Cluster::start().unwrap()];
    for (cluster, title) in clusters.iter().zip(["first", "second"]) {
        let options = Options::parse(&cluster.address("postgres")).unwrap();
        write(&PostgresStorage::open_and_migrate(&options).await.unwrap(), title).await.unwrap();
    }
    let socket = clusters[0].directory.join(".s.PGSQL.5432");
    let relay = Relay::start(move || UnixStream::connect(socket.clone())).await;
    let options = options(&relay, &[&clusters[1].directory]).connections(NonZeroUsize::new(connections).unwrap());
    let storage = PostgresStorage::open(&options).await.unwrap();
    for title in join_all((0..connections).map(|_| title(&storage))).await {
        assert_eq!(title.unwrap().as_deref(), Some("first"));
    }
    Some((storage, relay, clusters))
}

/// Reads `count` titles concurrently. Whenever all wait for the host, the clock advances to the next timeout.
async fn titles_after_timeouts(
    storage: &PostgresStorage,
    count: usize,
) -> Vec<Result<Option<String>, StorageErrorKind>> {
    tokio::time::pause();
    let titles = join_all((0..count).map(|_| title(storage))).await;
    tokio::time::resume();
    titles.into_iter().map(|title| title.map_err(|error| error.kind())).collect()
}

#[tokio::test]
async fn only_first_read_waits_for_unresponsive_host() {
    let Some((storage, relay, _clusters)) = two_hosts(5).await else { return };
    relay.set_state(State::Unresponsive);
    assert_eq!(titles_after_timeouts(&storage, 1).await, [Err(StorageErrorKind::Unavailable)]);
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    }
}

#[tokio::test]
async fn concurrent_reads_time_out_once_for_unresponsive_host() {
    let Some((storage, relay, _clusters)) = two_hosts(5).await else { return };
    relay.set_state(State::Unresponsive);
    assert_eq!(titles_after_timeouts(&storage, 5).await, [const { Err(StorageErrorKind::Unavailable) }; 5]);
    for title in join_all((0..20).map(|_| title(&storage))).await {
        assert_eq!(title.unwrap().as_deref(), Some("second"));
    }
}

#[tokio::test]
async fn recovered_host_is_used_again() {
    let Some((storage, relay, [_first, second])) = two_hosts(2).await else { return };
    second.kill();
    relay.set_state(State::Unresponsive);
    for _ in 0..2 {
        assert_eq!(titles_after_timeouts(&storage, 1).await, [Err(StorageErrorKind::Unavailable)]);
    }
    relay.set_state(State::Up);
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("first"));
}

#[tokio::test]
async fn new_session_skips_unresponsive_host() {
    let Some((_, relay, clusters)) = two_hosts(1).await else { return };
    relay.set_state(State::Unresponsive);
    let options = options(&relay, &[Path::new("/nowhere"), &clusters[1].directory]);
    let storage = PostgresStorage::open(&options).await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    write(&storage, "new").await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("new"));
}
