//! A schema of its own for each test, in the cluster that they share.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use catalogue_postgres::{Options, PostgresStorage};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Client, NoTls};

use catalogue_postgres_cluster::Cluster;

/// A test keeps two cores busy at least, its own threads and the sessions of the database: more tests at a time would only
/// let each other wait.
static SLOTS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new((available_parallelism().map_or(1, usize::from) / 2).max(1)));

/// An empty schema, and a place among the tests that run at the same time.
pub(crate) struct Schema {
    name: String,
    address: String,
    _slot: SemaphorePermit<'static>,
}

impl Schema {
    /// A new one; `None` where PostgreSQL is missing and not required.
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

    /// Its name, and the `application_name` of all that speaks to it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Patient ones: where all cores are busy, a session of the database may wait for seconds to run at all.
    pub(crate) fn options(&self) -> Options {
        Self::options_of(&self.address)
    }

    /// As patient, for an address that leads there another way.
    pub(crate) fn options_of(address: &str) -> Options {
        Options::parse(address).unwrap().deadline(Duration::from_secs(60))
    }

    /// A host's own connection.
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
