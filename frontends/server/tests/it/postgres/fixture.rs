//! A separate database for each test, the program on it, and plain SQL.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_postgres_cluster::Cluster;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::program::{COURSES, TestDir};

/// A working directory whose commands use a PostgreSQL database.
pub(crate) struct Fixture {
    pub(crate) dir: TestDir,
    /// Connection string in the syntax of PostgreSQL's own programs.
    connection: String,
}

impl Fixture {
    /// Creates an empty database. Returns `None` if PostgreSQL is missing and not required.
    pub(crate) fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let cluster = Cluster::shared()?;
        Session::of(&cluster.address("postgres")).run(&format!("CREATE DATABASE {name}"));
        Some(Self::on(cluster, &name))
    }

    /// Returns a fixture on the database `name` of `cluster`.
    pub(crate) fn on(cluster: &Cluster, name: &str) -> Self {
        Self { connection: cluster.address(name), ..Self::at(url(cluster, name)) }
    }

    /// Returns a fixture for `address`, which PostgreSQL's own programs accept too.
    pub(crate) fn at(address: String) -> Self {
        let mut dir = TestDir::new();
        dir.address.clone_from(&address);
        Self { dir, connection: address }
    }

    /// Like [`Self::new`], but imports [`COURSES`].
    pub(crate) fn with_courses() -> Option<Self> {
        let fixture = Self::new()?;
        fixture.import(COURSES);
        Some(fixture)
    }

    /// Opens a connection as a host application would.
    pub(crate) fn session(&self) -> Session {
        Session::of(&self.connection)
    }

    /// Returns the names of the tables in the schema `public`.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.session().texts("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    }
}

impl Deref for Fixture {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.dir
    }
}

impl DerefMut for Fixture {
    fn deref_mut(&mut self) -> &mut TestDir {
        &mut self.dir
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
