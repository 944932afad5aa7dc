//! A host application's own tables, with views over them, as the suites fill them.

use catalogue_core::storage::CourseViews;
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_storage_tests::host_app;
use tokio_postgres::Client;

use crate::schema::Schema;

/// Tables with texts as ids, and times with a zone.
pub(crate) const TEXTS: &str = include_str!("texts.sql");

/// Tables with numbers as ids, times without a zone and in microseconds, module counts and revisions.
pub(crate) const NUMBERS: &str = include_str!("numbers.sql");

/// Variant of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Texts,
    Numbers,
}

/// The host application's tables, and the storage over their views.
pub(crate) struct HostApp {
    pub(crate) schema: Schema,
    pub(crate) host: Client,
    pub(crate) storage: PostgresStorage,
    pub(crate) has_numeric_ids: bool,
}

/// Returns options for views and the catalogue's own tables in schemas of the test.
pub(crate) fn options(schema: &Schema) -> Options {
    schema.options().views(schema.name()).schema(&format!("{}_keys", schema.name()))
}

impl HostApp {
    pub(crate) async fn with_tables(tables: &str) -> Option<Self> {
        let schema = Schema::new().await?;
        let host = schema.host().await;
        host.batch_execute(tables).await.unwrap();
        let storage = PostgresStorage::open_and_migrate(&options(&schema)).await.unwrap();
        Some(Self { schema, host, storage, has_numeric_ids: tables == NUMBERS })
    }

    /// Applies `change` to the tables and opens the storage again.
    pub(crate) async fn reopened(self, change: &str) -> Self {
        self.host.batch_execute(change).await.unwrap();
        let storage = PostgresStorage::open(&options(&self.schema)).await.unwrap();
        Self { storage, ..self }
    }
}

impl host_app::HostApp for HostApp {
    type Storage = PostgresStorage;
    type Kind = Kind;

    const PLAIN: Kind = Kind::Texts;
    const WITH_REVISIONS: Kind = Kind::Numbers;
    const ACCEPTS_NUL: bool = false;

    fn kinds() -> Vec<Kind> {
        vec![Kind::Texts, Kind::Numbers]
    }

    async fn new(kind: Kind) -> Option<Self> {
        Self::with_tables(match kind {
            Kind::Texts => TEXTS,
            Kind::Numbers => NUMBERS,
        })
        .await
    }

    fn storage(&self) -> &PostgresStorage {
        &self.storage
    }

    fn views(&self) -> &dyn CourseViews {
        self.storage.views().unwrap()
    }

    async fn execute(&self, sql: &str) {
        self.host.batch_execute(sql).await.unwrap();
    }

    async fn account(&self, name: &str) -> AccountId {
        if !self.has_numeric_ids {
            return AccountId::new(name);
        }
        self.host.execute("INSERT INTO owners (login) VALUES ($1) ON CONFLICT DO NOTHING", &[&name]).await.unwrap();
        let id = self.host.query_one("SELECT CAST(id AS TEXT) FROM owners WHERE login = $1", &[&name]).await.unwrap();
        AccountId::new(id.get::<_, String>(0))
    }

    fn insert_owner(&self, account: &AccountId) -> String {
        // `account` has created the owner with its numeric id.
        if self.has_numeric_ids {
            return String::new();
        }
        format!("INSERT INTO owners VALUES ({}) ON CONFLICT DO NOTHING;", self.owner(account))
    }

    fn owner(&self, account: &AccountId) -> String {
        if self.has_numeric_ids { account.to_string() } else { self.text(account.as_str()) }
    }

    fn text(&self, text: &str) -> String {
        format!("'{}'", text.replace('\'', "''"))
    }

    fn times(&self, created_at: Timestamp, published_at: Option<Timestamp>) -> [String; 2] {
        let instant = |time: Timestamp| {
            let text = time.to_exact_string().replace('T', " ");
            // PostgreSQL calls the year before the year 1 the year 1 BC.
            text.strip_prefix("0000").map_or_else(|| format!("'{text}'"), |rest| format!("'0001{rest} BC'"))
        };
        let live_at = |time: Timestamp| match self.has_numeric_ids {
            true => time.as_microseconds().to_string(),
            false => instant(time),
        };
        [instant(created_at), published_at.map_or("NULL".to_owned(), live_at)]
    }

    async fn remove_events(&self, account: &AccountId) {
        let delete = format!("DELETE FROM {}_keys.credential_events WHERE account_id = $1", self.schema.name());
        self.host.execute(&delete, &[&account.as_str()]).await.unwrap();
    }
}
