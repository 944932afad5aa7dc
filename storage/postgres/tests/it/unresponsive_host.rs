//! An unresponsive host: its connections stay open, but nothing arrives over them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use crate::stress::{title, write};

/// A relay in front of a cluster, which can be cut.
struct Relay {
    directory: TempDir,
    cut: watch::Sender<bool>,
}

impl Relay {
    fn to(cluster: &Cluster) -> Self {
        let directory = TempDir::new().unwrap();
        let listener = UnixListener::bind(socket(directory.path())).unwrap();
        let (cut, is_cut) = watch::channel(false);
        let target = socket(&cluster.directory);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&target).await.unwrap();
                let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
                tokio::spawn(pass(from_client, to_server, is_cut.clone()));
                tokio::spawn(pass(from_server, to_client, is_cut.clone()));
            }
        });
        Self { directory, cut }
    }
}

fn socket(directory: &Path) -> std::path::PathBuf {
    directory.join(".s.PGSQL.5432")
}

/// Forwards bytes; once the relay is cut, forwards neither bytes nor the end of the stream.
async fn pass(
    mut from: tokio::net::unix::OwnedReadHalf,
    mut to: tokio::net::unix::OwnedWriteHalf,
    mut is_cut: watch::Receiver<bool>,
) {
    let mut bytes = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        if is_cut.wait_for(|cut| !cut).await.is_err() || to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

/// Opens a storage over `connections` to a cluster behind a relay, with another cluster as the second host.
async fn two_hosts(connections: usize, deadline: Duration) -> Option<(PostgresStorage, Relay, [Cluster; 2])> {
    Cluster::shared()?;
    let clusters = [Cluster::start().unwrap(), Cluster::start().unwrap()];
    for (cluster, title) in clusters.iter().zip(["first", "second"]) {
        let options = Options::parse(&cluster.address("postgres")).unwrap();
        write(&PostgresStorage::open_and_migrate(&options).await.unwrap(), title).await.unwrap();
    }
    let relay = Relay::to(&clusters[0]);
    let hosts = [relay.directory.path(), &clusters[1].directory].map(|host| host.display().to_string()).join(",");
    let options = Options::parse(&format!("host={hosts} user=postgres dbname=postgres")).unwrap();
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
    relay.cut.send(true).unwrap();
    assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    for _ in 0..10 {
        assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_reads_time_out_once_for_unresponsive_host() {
    let Some((storage, relay, _clusters)) = two_hosts(5, Duration::from_secs(8)).await else { return };
    relay.cut.send(true).unwrap();
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
    relay.cut.send(true).unwrap();
    for _ in 0..2 {
        assert_eq!(title(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    }
    relay.cut.send(false).unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("first"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_session_skips_unresponsive_host() {
    let Some((_, relay, clusters)) = two_hosts(1, Duration::from_secs(5)).await else { return };
    relay.cut.send(true).unwrap();
    let hosts = [relay.directory.path(), Path::new("/nowhere"), &clusters[1].directory];
    let hosts = hosts.map(|host| host.display().to_string()).join(",");
    let options = Options::parse(&format!("host={hosts} user=postgres dbname=postgres")).unwrap();
    let storage = PostgresStorage::open(&options).await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("second"));
    write(&storage, "new").await.unwrap();
    assert_eq!(title(&storage).await.unwrap().as_deref(), Some("new"));
}
