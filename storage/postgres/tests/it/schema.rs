//! A separate schema for each test, in a shared cluster, and the database of the laws in one.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_postgres::{Options, PostgresStorage};
use tokio_postgres::{Client, NoTls};

use catalogue_postgres_cluster::Cluster;
use catalogue_storage_tests::database;

/// Names of schemas whose tests have ended. With thousands of tables, the catalogs would slow down the checks of views.
static ENDED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An empty schema, which is dropped when another test begins.
pub(crate) struct Schema {
    name: String,
    address: String,
}

impl Schema {
    /// Creates a schema; `None` if PostgreSQL is missing and not required.
    pub(crate) async fn new() -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let cluster = Cluster::shared()?;
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let host = connect(&cluster.address("postgres")).await;
        let ended = mem::take(&mut *ENDED.lock().unwrap());
        for ended in ended {
            let drop = format!("SET lock_timeout = '100ms'; DROP SCHEMA IF EXISTS {ended}, {ended}_keys CASCADE");
            // The last sessions of its test may still be closing.
            if host.batch_execute(&drop).await.is_err() {
                ENDED.lock().unwrap().push(ended);
            }
        }
        host.batch_execute(&format!("CREATE SCHEMA {name}")).await.unwrap();
        let address = cluster.address("postgres");
        let address = format!("{address} application_name={name} options='-c search_path={name}'");
        Some(Self { name, address })
    }

    /// Creates a schema with a storage, and an account with one course in it.
    pub(crate) async fn with_course() -> Option<(Self, PostgresStorage, AccountId)> {
        let schema = Self::new().await?;
        let storage = schema.storage().await;
        let account = crate::import_one_course(&storage).await;
        Some((schema, storage, account))
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

    /// Like [`options`](Self::options), for connections to a proxy at `port` instead of the cluster.
    pub(crate) fn options_through(&self, port: u16) -> Options {
        let direct = format!("host={} ", Cluster::shared().unwrap().directory.display());
        Self::options_of(&self.address.replace(&direct, &format!("host=127.0.0.1 port={port} ")))
    }

    /// Opens a connection of the host application, for plain SQL.
    pub(crate) async fn host(&self) -> Client {
        connect(&self.address).await
    }

    pub(crate) async fn storage(&self) -> PostgresStorage {
        PostgresStorage::open_and_migrate(&self.options()).await.unwrap()
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        ENDED.lock().unwrap().push(mem::take(&mut self.name));
    }
}

/// A storage in a schema, and a connection of the host application.
pub(crate) struct Database {
    pub(crate) schema: Schema,
    pub(crate) storage: PostgresStorage,
    pub(crate) host: Client,
}

impl database::Database for Database {
    type Storage = PostgresStorage;

    const WITHOUT_FOREIGN_KEYS: &str = "";
    const REPLACE_REVISIONS: &str = "UPDATE accounts SET revision = gen_random_uuid();";
    const REVISION_CHANGES: &[&str] = &[
        "INSERT INTO courses (account_id, created_at, slug, title, language) VALUES ('acc', 1, 'new', 'New', 'en')",
        "WITH gone AS (DELETE FROM courses WHERE slug = 'new' RETURNING slug) SELECT slug FROM gone",
        "TRUNCATE module_contents",
        "TRUNCATE modules",
        "TRUNCATE courses",
    ];
    const MODULE_CHANGES: &[(&str, u32)] = &[
        (
            "INSERT INTO modules (account_id, course_slug, number, title) \
             SELECT 'acc', 'renamed', n, 'Many' FROM generate_series(1, 500) AS n",
            500,
        ),
        ("TRUNCATE modules", 0),
    ];
    const REFUSED_CHANGES: &[&str] = &[];
    // The setting with which the catalogue's writers disable triggers, and a search path with `pg_catalog` last.
    const HOSTILE_SETTINGS: &str = "SET catalogue.writer = 'self'; \
         SELECT set_config('search_path', current_schema() || ', pg_catalog', false);";

    fn bytes(bytes: &[u8]) -> String {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("decode('{digits}', 'hex')")
    }

    async fn create() -> Option<Self> {
        let schema = Schema::new().await?;
        let storage = schema.storage().await;
        let host = schema.host().await;
        Some(Self { schema, storage, host })
    }

    fn storage(&self) -> &PostgresStorage {
        &self.storage
    }

    async fn open_storage(&self) -> PostgresStorage {
        self.schema.storage().await
    }

    async fn try_execute(&self, sql: &str) -> Result<(), String> {
        let outcome = self.host.batch_execute(sql).await;
        outcome.map_err(|error| error.as_db_error().map_or(error.to_string(), |error| error.message().to_owned()))
    }

    async fn execute_without_triggers(&self, sql: &str) {
        let set =
            |state| format!("ALTER TABLE courses {state} TRIGGER USER; ALTER TABLE modules {state} TRIGGER USER;");
        self.host.batch_execute(&format!("{} {sql} {}", set("DISABLE"), set("ENABLE"))).await.unwrap();
    }

    async fn count(&self, from: &str) -> i64 {
        self.host.query_one(&format!("SELECT count(*) FROM {from}"), &[]).await.unwrap().get(0)
    }
}

/// Opens a connection without TLS.
pub(crate) async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
