//! A separate database for each test, the program on it, and plain SQL.

use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_postgres_cluster::Cluster;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::program::{COURSES, TestDir};

impl TestDir {
    /// Creates a directory whose commands use an empty PostgreSQL database.
    /// Returns `None` if PostgreSQL is missing and not required.
    pub(crate) fn postgres() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let cluster = Cluster::shared()?;
        Session::of(&cluster.address("postgres")).run(&format!("CREATE DATABASE {name}"));
        Some(Self::over(url(cluster, &name)))
    }

    /// Creates a directory whose commands use the database at `address`.
    pub(crate) fn over(address: String) -> Self {
        let mut dir = Self::new();
        dir.address = address;
        dir
    }

    /// Like [`Self::postgres`], but imports [`COURSES`].
    pub(crate) fn postgres_with_courses() -> Option<Self> {
        let dir = Self::postgres()?;
        dir.import(COURSES);
        Some(dir)
    }

    /// Returns the names of the tables in the schema `public` of PostgreSQL.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.host().texts("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    }
}

/// Returns the connection string of a database on the cluster's socket.
pub(crate) fn url(cluster: &Cluster, name: &str) -> String {
    let socket = cluster.directory.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}/{name}")
}

/// A connection for plain SQL.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    pub(crate) fn of(address: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(address, NoTls)).unwrap();
        runtime.spawn(connection);
        Self { runtime, client }
    }

    pub(crate) fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    /// Returns the first column of all rows.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.runtime.block_on(self.client.query(sql, &[])).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}
