//! A schema of its own for each test, in the cluster that they share.

use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_postgres::{Options, PostgresStorage};
use tokio_postgres::{Client, NoTls};

use crate::cluster::Cluster;

/// An empty schema.
pub(crate) struct Schema {
    address: String,
}

impl Schema {
    /// A new one; `None` where PostgreSQL is missing and not required.
    pub(crate) async fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let cluster = Cluster::shared()?;
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        connect(&cluster.address("postgres")).await.batch_execute(&format!("CREATE SCHEMA {name}")).await.unwrap();
        let address = cluster.address("postgres");
        Some(Self { address: format!("{address} application_name={name} options='-c search_path={name}'") })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn options(&self) -> Options {
        Options::parse(&self.address).unwrap()
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
