//! [`PostgresStorage`]: opening a database.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    CourseRows, CourseStorage as _, CourseViews, CredentialStorage as _, PageRequest, StorageError,
};
use catalogue_core::{AccountId, Timestamp};

use crate::citus;
use crate::connection::{Connection, Sql};
use crate::connections::readers::Readers;
use crate::credentials::FIND_ACCOUNT;
use crate::error::is_transient;
use crate::migration::{self, Migrated};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::rows::time;
use crate::transaction::{DEADLINE, LOCK_TIMEOUT, transact};
use crate::versions::SCHEMA_VERSION;
use crate::views::{Statement, Statements, Views};

const CLOCK: Sql =
    Sql { text: "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now", types: &[] };

/// Accounts, courses and credentials in one PostgreSQL database. Cheap to clone; clones share connections. A connection lives
/// on the Tokio runtime that opens it, and needs that runtime's time and I/O drivers.
#[derive(Clone)]
pub struct PostgresStorage {
    pub(crate) readers: Arc<Readers>,
    /// Views to read courses from; `None` if courses are in the catalogue's own tables.
    pub(crate) views: Option<Arc<Views>>,
    options: Arc<Options>,
    write_timeout: Duration,
    /// Whether the tables are distributed over Citus nodes by account.
    pub(crate) is_distributed: bool,
    has_citus: bool,
}

impl PostgresStorage {
    /// Opens a database of the current schema.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the database is unreachable or unsupported, if its tables are another program's or of another
    /// schema version, or if a configured view or its columns are missing or unreadable. Nothing is changed.
    pub async fn open(options: &Options) -> Result<Self, OpenError> {
        for server in &options.unencrypted_servers {
            tracing::warn!(server, "no TLS to the database; set sslmode=verify-full or sslmode=disable");
        }
        let migration::SchemaState { version: found, is_distributed, has_citus } =
            migration::read_state(options).await?;
        match found.cmp(&SCHEMA_VERSION) {
            Ordering::Less => Err(OpenError::OlderSchema { found, known: SCHEMA_VERSION }),
            Ordering::Equal => {
                let storage = Self { is_distributed, has_citus, ..Self::open_only_views(options).await? };
                match storage.check_request_queries().await {
                    // Perhaps only one node is down; the nodes of other accounts may be up.
                    Err(error) if is_distributed && is_transient(&error) => {
                        storage.readers.status().await.error.map_or(Ok(()), |error| Err(OpenError::Failed(error)))?;
                        tracing::warn!(%error, "a node does not respond; requests of its accounts get a 500");
                    }
                    checked => checked?,
                }
                Ok(storage)
            }
            Ordering::Greater => Err(OpenError::NewerSchema { found, known: SCHEMA_VERSION }),
        }
    }

    /// Opens the views alone: for checks before the catalogue's tables exist. Without these tables, calls about keys fail.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the database is unreachable, or if a view or its columns are missing or unreadable.
    pub async fn open_only_views(options: &Options) -> Result<Self, OpenError> {
        let options = Arc::new(options.clone());
        let (views, readers) = (Views::open(&options).await?, Arc::new(Readers::new(&options)));
        let [is_distributed, has_citus] = [false; 2];
        Ok(Self { readers, views, options, write_timeout: LOCK_TIMEOUT, is_distributed, has_citus })
    }

    /// Runs the queries of requests once, over the connections of requests. So opening fails if the role may not read a table,
    /// or if a pooler refuses the settings of a session.
    async fn check_request_queries(&self) -> Result<(), StorageError> {
        let no_account = AccountId::new("");
        let none = TokenDigest::from_bytes([0; 32]);
        self.find_credential(&none).await?;
        let page = PageRequest::default();
        self.list_courses(&no_account, &page, &mut CourseRows::new(page.limit, &mut |_| {})).await?;
        self.find_course(&no_account, "none").await?;
        self.is_revoked(&none).await.map(|_| ())
    }

    /// Opens a database and brings its schema up to date.
    ///
    /// # Errors
    /// Returns the errors of [`migrate`](Self::migrate) and [`open`](Self::open).
    pub async fn open_and_migrate(options: &Options) -> Result<Self, OpenError> {
        Self::migrate(options).await?;
        Self::open(options).await
    }

    /// Sets how long a change to keys, sign-ins or one course waits for another program that writes the same rows. Default: 5
    /// seconds; minimum: 1 ms. With a longer timeout than the default, a call that has waited for a second logs a warning.
    #[must_use]
    pub fn write_timeout(self, timeout: Duration) -> Self {
        Self { write_timeout: timeout, ..self }
    }

    /// Creates missing tables and brings existing ones up to date, in one transaction. If calls are concurrent, one
    /// migrates and the others wait for it.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the database is unreachable, needs changes but is read-only, or has newer or other tables.
    pub async fn migrate(options: &Options) -> Result<Migrated, OpenError> {
        migration::migrate(options).await
    }

    /// Returns the time by the primary's clock.
    ///
    /// # Errors
    /// Returns an error if the primary cannot be queried.
    pub async fn clock(&self) -> Result<Timestamp, StorageError> {
        time(&self.exporter().await?.query_one(&CLOCK, &[]).await?, "now")
    }

    /// Returns the checks of views; `None` if courses are in the catalogue's own tables, not in [`Options::views`].
    #[must_use]
    pub fn views(&self) -> Option<&dyn CourseViews> {
        self.views.as_deref().map(|views| views as &dyn CourseViews)
    }

    /// Returns the statement for the catalogue's own tables, or its counterpart over views.
    pub(crate) fn sql<'s>(&'s self, own: Sql<'s>, over_views: fn(&Statements) -> &Statement) -> Sql<'s> {
        self.views.as_ref().map_or(own, |views| over_views(&views.statements).sql())
    }

    pub(crate) fn find_account(&self) -> Sql<'_> {
        self.sql(FIND_ACCOUNT, |statements| &statements.find_account)
    }

    /// Opens a connection for one change.
    pub(crate) async fn writer(&self) -> Result<Connection, StorageError> {
        Ok(self.with_layout(self.options.writing().without_names().open().await?))
    }

    /// Opens a connection for many changes, as in an import.
    pub(crate) async fn importer(&self) -> Result<Connection, StorageError> {
        Ok(self.with_layout(self.options.writing().open().await?))
    }

    /// Runs a change in one transaction.
    pub(crate) async fn transact<T, F>(
        &self,
        connection: &Connection,
        change: impl Fn() -> F,
    ) -> Result<Option<T>, StorageError>
    where
        F: Future<Output = Result<Option<T>, StorageError>>,
    {
        transact(connection, DEADLINE, self.write_timeout, change).await
    }

    /// Opens a connection that can read everything, for administration.
    pub(crate) async fn exporter(&self) -> Result<Connection, StorageError> {
        Ok(self.with_layout(self.options.exporting().open().await?))
    }

    fn with_layout(&self, mut connection: Connection) -> Connection {
        connection.is_distributed = self.is_distributed;
        connection
    }

    /// Returns what an operator must fix in Citus; empty if Citus is absent or cannot be queried.
    pub(crate) async fn problems(&self) -> Vec<String> {
        if !self.has_citus {
            return Vec::new();
        }
        citus::health::problems(&self.readers, self.is_distributed).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot read the state of the Citus nodes");
            Vec::new()
        })
    }
}

impl fmt::Debug for PostgresStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStorage").field("options", &self.options).finish_non_exhaustive()
    }
}
