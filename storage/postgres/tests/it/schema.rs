//! A separate schema for each test, in a shared cluster.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use catalogue_postgres::{Options, PostgresStorage};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Client, NoTls};

use catalogue_postgres_cluster::Cluster;

/// Limits concurrent tests: each uses at least two cores, for its own threads and the database's sessions, so more
/// would only wait for each other.
static SLOTS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new((available_parallelism().map_or(1, usize::from) / 2).max(1)));

/// An empty schema, and a slot among the tests that run concurrently.
pub(crate) struct Schema {
    name: String,
    address: String,
    _slot: SemaphorePermit<'static>,
}

impl Schema {
    /// Creates a schema; `None` if PostgreSQL is missing and not required.
    pub(crate) async fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let cluster = Cluster::shared()?;
        let slot = SLOTS.acquire().await.unwrap();
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        connect(&cluster.address("postgres")).await.batch_execute(&format!("CREATE SCHEMA {name}")).await.unwrap();
        let address = cluster.address("postgres");
        let address = format!("{address} application_name={name} options='-c search_path={name}'");
        Some(Self { name, address, _slot: slot })
    }

    /// Returns the schema's name, which is also the `application_name` of its sessions.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns options with a long deadline: on a busy machine, a session may wait seconds to run at all.
    pub(crate) fn options(&self) -> Options {
        Self::options_of(&self.address)
    }

    /// Like [`options`](Self::options), for another connection string of the schema.
    pub(crate) fn options_of(address: &str) -> Options {
        Options::parse(address).unwrap().deadline(Duration::from_secs(60))
    }

    /// Opens a connection of the host application, for plain SQL.
    pub(crate) async fn host(&self) -> Client {
        connect(&self.address).await
    }

    pub(crate) async fn storage(&self) -> PostgresStorage {
        PostgresStorage::open_and_migrate(&self.options()).await.unwrap()
    }
}

async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
