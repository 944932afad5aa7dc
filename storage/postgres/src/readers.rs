//! [`Readers`]: the pool of connections that the request path reads over.

use std::time::Duration;

use catalogue_core::{StorageError, StorageErrorKind};
use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_postgres::{Config, Error, Row};

use crate::connection::{Connection, Sql, Values};
use crate::error::{Remedy, storage_error};
use crate::options::Options;

/// An older connection is replaced, so that after a change of machines the load spreads again.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);
/// A connection that was not used for longer is asked for a sign of life first.
const TRUSTED_FOR: Duration = Duration::from_secs(30);
/// How long that sign may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// Read-only connections. A read takes one for one statement.
pub(crate) struct Readers {
    pool: Pool<Connector>,
    deadline: Duration,
}

/// Opens the pool's connections, and says which are fit to be used again.
struct Connector {
    config: Config,
    named_statements: bool,
}

impl Readers {
    pub(crate) fn new(options: &Options) -> Self {
        let connector = Connector { config: options.reading(), named_statements: !options.through_pooler };
        let pool = Pool::builder(connector).max_size(options.connections.get()).build();
        Self { pool: pool.expect("only time limits of its own could be wrong"), deadline: options.deadline }
    }

    /// Runs a statement that reads, once more where its connection or its prepared form turns out to be gone, and all
    /// within the deadline.
    pub(crate) async fn read(&self, sql: &Sql, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let began = Instant::now();
        let deadline = began + self.deadline;
        let mut connection = self.connection(deadline).await?;
        let mut again = true;
        loop {
            let Ok(answer) = timeout_at(deadline, connection.query(sql, values)).await else {
                close(connection);
                return Err(StorageError::new(StorageErrorKind::Unavailable, "the database took too long"));
            };
            let error = match answer {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            match Remedy::of(&error) {
                Remedy::PrepareAnew if again => connection.forget_statements(),
                Remedy::Reconnect if again => {
                    tracing::debug!(%error, "a read is asked again over another connection");
                    close(connection);
                    // What ended this connection has most likely ended those that were opened before, too.
                    drop(self.pool.retain(|other, _| other.opened() > began));
                    connection = self.connection(deadline).await?;
                }
                _ => {
                    close(connection);
                    return Err(storage_error(error));
                }
            }
            again = false;
        }
    }

    async fn connection(&self, deadline: Instant) -> Result<Object<Connector>, StorageError> {
        match timeout_at(deadline, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(PoolError::Backend(error))) => Err(storage_error(error)),
            Ok(Err(error)) => {
                Err(StorageError::new(StorageErrorKind::Other, "the pool of connections failed").with_source(error))
            }
            Err(_) => {
                let message = "there was no connection to the database in time: it is slow, or out of reach, or all \
                               connections are in use";
                Err(StorageError::new(StorageErrorKind::Unavailable, message))
            }
        }
    }
}

/// Ends a connection instead of giving it back.
fn close(connection: Object<Connector>) {
    drop(Object::take(connection));
}

impl Manager for Connector {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection, Error> {
        Connection::open(&self.config, self.named_statements).await
    }

    async fn recycle(&self, connection: &mut Connection, metrics: &Metrics) -> RecycleResult<Error> {
        if connection.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if connection.opened().elapsed() > MAX_AGE {
            return Err(RecycleError::message("too old"));
        }
        if metrics.last_used() > TRUSTED_FOR {
            let sign = timeout(CHECK_TIMEOUT, connection.check()).await;
            sign.map_err(|_| RecycleError::message("no sign of life"))??;
        }
        Ok(())
    }
}
