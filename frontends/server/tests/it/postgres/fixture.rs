//! A separate database for each test, the program on it, and plain SQL.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_postgres_cluster::Cluster;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::program::{COURSES, Outcome, Server, TestDir};

/// A database, and a working directory for the program, which gets the database from its environment.
pub(crate) struct Fixture {
    pub(crate) dir: TestDir,
    /// Connection string for `--database`.
    pub(crate) address: String,
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
        Self { dir: TestDir::new(), address: url(cluster, name), connection: cluster.address(name) }
    }

    /// Returns a fixture for `address`, which PostgreSQL's own programs accept too.
    pub(crate) fn at(address: String) -> Self {
        Self { dir: TestDir::new(), connection: address.clone(), address }
    }

    /// Like [`Self::new`], but imports [`COURSES`].
    pub(crate) fn with_courses() -> Option<Self> {
        let fixture = Self::new()?;
        fixture.import(COURSES);
        Some(fixture)
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = self.dir.command(arguments);
        // Long timeout: if all cores are busy, a database session can wait seconds for one.
        command.env("CATALOGUE_DATABASE", &self.address).env("CATALOGUE_DATABASE_TIMEOUT", "60s");
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    /// Imports `text` and returns the output.
    pub(crate) fn import(&self, text: &str) -> String {
        self.dir.write("import.jsonl", text);
        self.run("import import.jsonl").succeeds()
    }

    /// Creates a key and returns its id and token.
    pub(crate) fn key(&self, account: &str) -> (String, String) {
        let key = self.run(&format!("keys create --account {account} --name n --scope read:courses --json")).json();
        let text = |field: &str| key[field].as_str().unwrap().to_owned();
        (text("id"), text("token"))
    }

    pub(crate) fn serve(&self, arguments: &str) -> Server {
        Server::start(&mut self.command(&format!("serve --listen 127.0.0.1:0 {arguments}")))
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

/// Returns the response to `GET path` without the headers in which any two servers differ: tag, request id and date.
pub(crate) fn comparable_response(address: &str, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let excluded = ["etag:", "x-request-id:", "date:"];
    let head: Vec<_> = head.split("\r\n").filter(|line| !excluded.iter().any(|name| line.starts_with(name))).collect();
    format!("{}\n\n{body}", head.join("\n"))
}
