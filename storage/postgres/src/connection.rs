//! [`Connection`]: one session, and the statements that it has prepared.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, Row, SimpleQueryMessage, Statement};

use catalogue_core::storage::{StorageError, StorageErrorKind};

use crate::connections::lag::Log;
use crate::error::storage_error;
use crate::tls::Tls;

/// A statement with the types of its values, so it means the same whether it is prepared or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sql<'t> {
    pub(crate) text: &'t str,
    pub(crate) types: &'static [Type],
}

/// Values of a statement, in order.
pub(crate) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// A session. It is closed on drop, which rolls back an open transaction.
pub(crate) struct Connection {
    client: Client,
    pub(crate) opened: Instant,
    /// Whether the tables are distributed over Citus nodes by account.
    pub(crate) is_distributed: bool,
    /// Log that the server writes; `None` if it was not queried.
    pub(crate) log: Option<Log>,
    last_response: Mutex<LastResponse>,
    /// Prepared statements by text; `None` if statements are unnamed.
    prepared: Option<Mutex<HashMap<Box<str>, Statement>>>,
}

/// State of a session's last response and last role check.
pub(crate) struct LastResponse {
    /// Time of the last response.
    pub(crate) received: Instant,
    /// Time of the last check that found the server in the requested role.
    pub(crate) role_checked: Instant,
    /// Whether the response to a statement is outstanding or was abandoned.
    pub(crate) is_outstanding: bool,
}

impl LastResponse {
    pub(crate) fn record_response(&mut self) {
        (self.received, self.is_outstanding) = (Instant::now(), false);
    }
}

impl Connection {
    pub(crate) async fn open(config: &Config, tls: &Tls, named_statements: bool) -> Result<Self, StorageError> {
        let began = Instant::now();
        let client = tls.connect(config).await.map_err(storage_error)?;
        let opened = Instant::now();
        let last_response = Mutex::new(LastResponse { received: opened, role_checked: began, is_outstanding: false });
        let prepared = named_statements.then(Mutex::default);
        Ok(Self { client, opened, is_distributed: false, log: None, last_response, prepared })
    }

    pub(crate) fn last_response(&self) -> MutexGuard<'_, LastResponse> {
        self.last_response.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Checks that the server responds.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        self.client.check_connection().await
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn query(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let rows = match self.prepare(sql).await? {
            Some(statement) => self.client.query(&statement, values).await,
            None => self.client.query_typed(sql.text, &typed(sql, values)).await,
        };
        rows.map_err(storage_error)
    }

    /// Runs a statement that always has one row, and returns it.
    pub(crate) async fn query_one(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Row, StorageError> {
        let row = self.query(sql, values).await?.pop();
        row.ok_or_else(|| StorageError::new(StorageErrorKind::Corrupt, "the database returned no row"))
    }

    /// Runs a statement and returns the number of affected rows.
    pub(crate) async fn execute(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<u64, StorageError> {
        let affected = match self.prepare(sql).await? {
            Some(statement) => self.client.execute(&statement, values).await,
            None => self.client.execute_typed(sql.text, &typed(sql, values)).await,
        };
        affected.map_err(storage_error)
    }

    /// Runs statements without parameters.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), StorageError> {
        self.client.batch_execute(sql).await.map_err(storage_error)
    }

    /// Runs statements without parameters and returns their messages.
    pub(crate) async fn query_simple(&self, sql: &str) -> Result<Vec<SimpleQueryMessage>, StorageError> {
        self.client.simple_query(sql).await.map_err(storage_error)
    }

    /// Begins a `COPY … FROM STDIN (FORMAT binary)`; `sql.types` are the types of its columns.
    pub(crate) async fn copy(&self, sql: &Sql<'_>) -> Result<BinaryCopyInWriter, StorageError> {
        let sink = match self.prepare(&Sql { types: &[], ..*sql }).await? {
            Some(statement) => self.client.copy_in(&statement).await,
            None => self.client.copy_in(sql.text).await,
        };
        Ok(BinaryCopyInWriter::new(sink.map_err(storage_error)?, sql.types))
    }

    /// Returns the named statement, or `None` if statements are unnamed. The first call for a text costs a round trip.
    pub(crate) async fn prepare(&self, sql: &Sql<'_>) -> Result<Option<Statement>, StorageError> {
        let Some(prepared) = &self.prepared else { return Ok(None) };
        let known = prepared.lock().unwrap_or_else(PoisonError::into_inner).get(sql.text).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let statement = self.client.prepare_typed(sql.text, sql.types).await.map_err(storage_error)?;
        prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.text.into(), statement.clone());
        Ok(Some(statement))
    }
}

fn typed<'v>(sql: &Sql<'_>, values: Values<'v>) -> Vec<(&'v (dyn ToSql + Sync), Type)> {
    values.iter().copied().zip(sql.types.iter().cloned()).collect()
}
