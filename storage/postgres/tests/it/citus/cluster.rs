//! The cluster whose coordinator `CATALOGUE_TEST_CITUS` names, and a schema in it for each test.

use std::env;
use std::io::{Write as _, stderr};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use catalogue_postgres::{Options, PostgresStorage};
use tokio::runtime::Builder;
use tokio::sync::{Mutex, MutexGuard};
use tokio_postgres::{Client, NoTls};

/// One test at a time: some change what the cluster's nodes are.
static CLUSTER_LOCK: Mutex<()> = Mutex::const_new(());

/// The coordinator's address; a line says so where there is none.
static ADDRESS: LazyLock<Option<String>> = LazyLock::new(|| {
    let address = env::var("CATALOGUE_TEST_CITUS").ok();
    if address.is_none() {
        // Past the capture of the test's own output, so that it is seen.
        stderr().write_all(b"skipped: Citus: CATALOGUE_TEST_CITUS names no coordinator\n").unwrap();
    }
    address
});

/// An empty schema of the cluster, and the cluster itself for as long.
pub(crate) struct Citus {
    pub(crate) name: String,
    _lock: MutexGuard<'static, ()>,
}

impl Citus {
    /// A new one; `None` where no cluster is named.
    pub(crate) async fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let address = ADDRESS.as_deref()?;
        let lock = CLUSTER_LOCK.lock().await;
        let name = format!("catalogue_test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let host = connect(address).await;
        host.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).await.unwrap();
        Some(Self { name, _lock: lock })
    }

    /// The address of the schema. Few shards are made sooner.
    pub(crate) fn address(&self) -> String {
        let address = ADDRESS.as_deref().unwrap();
        let end = if address.contains('?') { '&' } else { '?' };
        format!("{address}{end}options=-c%20search_path%3D{}%20-c%20citus.shard_count%3D4", self.name)
    }

    pub(crate) fn options(&self) -> Options {
        Options::parse(&self.address()).unwrap().deadline(Duration::from_secs(60)).citus()
    }

    pub(crate) async fn storage(&self) -> PostgresStorage {
        PostgresStorage::open_and_migrate(&self.options()).await.unwrap()
    }

    /// A host's own connection.
    pub(crate) async fn host(&self) -> Client {
        connect(&self.address()).await
    }
}

/// Each schema makes it slower to tell the nodes of all of them.
impl Drop for Citus {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        let dropping = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { connect(ADDRESS.as_deref().unwrap()).await.batch_execute(&drop).await })
        });
        // A test that has failed says why; what it has left, the next run removes.
        let _ = dropping.join();
    }
}

async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
