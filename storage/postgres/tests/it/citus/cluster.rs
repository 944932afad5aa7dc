//! The cluster whose coordinator is named by `CATALOGUE_TEST_CITUS`, and a schema in it for each test.

use std::env;
use std::io::{Write as _, stderr};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use catalogue_postgres::{Options, PostgresStorage};
use tokio::runtime::Builder;
use tokio::sync::{Mutex, MutexGuard};
use tokio_postgres::Client;

use crate::schema::connect;

/// Serializes the tests: some change the cluster's nodes.
static CLUSTER_LOCK: Mutex<()> = Mutex::const_new(());

/// Connection string of the coordinator; logs a line if it is not set.
static ADDRESS: LazyLock<Option<String>> = LazyLock::new(|| {
    let address = env::var("CATALOGUE_TEST_CITUS").ok();
    if address.is_none() {
        // Bypass the capture of the test's own output, so that the message is visible.
        stderr().write_all(b"skipped: Citus: CATALOGUE_TEST_CITUS names no coordinator\n").unwrap();
    }
    address
});

/// An empty schema of the cluster, with exclusive use of the cluster.
pub(crate) struct Citus {
    pub(crate) name: String,
    _lock: MutexGuard<'static, ()>,
}

impl Citus {
    /// Creates a schema, or returns `None` if no cluster is configured.
    pub(crate) async fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let address = ADDRESS.as_deref()?;
        let lock = CLUSTER_LOCK.lock().await;
        let name = format!("catalogue_test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let host = connect(address).await;
        host.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).await.unwrap();
        Some(Self { name, _lock: lock })
    }

    /// Returns the connection string of the schema. With few shards, tables are created faster.
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

    /// Opens a connection of the host application, for plain SQL.
    pub(crate) async fn host(&self) -> Client {
        connect(&self.address()).await
    }
}

/// Drops the schema: each existing schema slows down the synchronization of metadata to the nodes.
impl Drop for Citus {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        let dropping = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { connect(ADDRESS.as_deref().unwrap()).await.batch_execute(&drop).await })
        });
        // Ignore errors: a failed test reports its own, and the next run drops the schema.
        let _ = dropping.join();
    }
}
