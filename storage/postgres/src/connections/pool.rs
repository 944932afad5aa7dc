//! [`Pool`]: connections of the request path to the servers of one connection string.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use catalogue_core::storage::{Connections, StorageError, StorageErrorKind};
use deadpool::managed::{Manager, Metrics, Object, PoolError, RecycleError, RecycleResult};
use futures_util::future::join;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::hosts::Hosts;
use super::role::Role;
use crate::connection::{Connection, LastResponse, Sql, Values};
use crate::error::{Retry, code, unavailable};

/// Maximum age of a connection: replacing older ones spreads the load again after a change of servers.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);
/// Maximum time without a response before a connection is checked on its next use.
const CHECK_AFTER_IDLE: Duration = Duration::from_secs(30);
/// Timeout for the check of a connection.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout for the response to an abandoned read, before the connection is closed.
const LATE_RESPONSE_TIMEOUT: Duration = Duration::from_millis(100);
/// Interval between checks that the server is still the primary.
const ROLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Delay before a retry if all connection slots of the server are in use.
const SLOT_RETRY_DELAY: Duration = Duration::from_millis(20);

/// Pool of read-only connections. A read uses one for one statement.
pub(crate) struct Pool {
    inner: deadpool::managed::Pool<Connector>,
    timeouts: AtomicUsize,
}

/// Opens the pool's connections, and decides which can be reused.
struct Connector {
    hosts: Hosts,
    liveness: Mutex<Liveness>,
}

/// Recent timeouts of the servers behind the connections.
#[derive(Clone, Copy, Default)]
struct Liveness {
    /// When a read last timed out. A connection without a response since is checked before its next use.
    read_timed_out: Option<Instant>,
    /// When the last check that timed out began. A connection without a response since is closed: a check would delay a read.
    check_timed_out: Option<Instant>,
}

impl Pool {
    pub(crate) fn new(hosts: Hosts, connections: usize) -> Self {
        let connector = Connector { hosts, liveness: Mutex::default() };
        let inner = deadpool::managed::Pool::builder(connector).max_size(connections).build();
        Self { inner: inner.expect("a pool without timeouts is valid"), timeouts: AtomicUsize::default() }
    }

    /// Runs a statement that reads. Retries once, over another connection if the first, its prepared statement or the server's
    /// primary role is lost. All attempts end by `deadline`.
    pub(crate) async fn read(
        &self,
        sql: &Sql<'_>,
        values: Values<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, StorageError> {
        let rows = self.read_until(deadline, sql, values).await;
        // Compares times, not errors: at the deadline the server may cancel the statement first.
        if rows.is_err() && Instant::now() >= deadline {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
        }
        rows
    }

    async fn read_until(&self, deadline: Instant, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let began = Instant::now();
        let mut connection = self.connection(deadline).await?;
        let mut may_retry = true;
        loop {
            let error = match timeout_at(deadline, self.query(&connection, sql, values)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => error,
                Err(_) => {
                    close(connection);
                    self.inner.manager().liveness(|liveness| liveness.read_timed_out = Some(Instant::now()));
                    return Err(unavailable("the database took too long"));
                }
            };
            let retry = error.as_ref().map_or(Retry::Reconnect, Retry::of);
            match retry {
                Retry::SameSession if may_retry => tracing::debug!(?error, "retrying a read"),
                Retry::Reconnect if may_retry => {
                    tracing::debug!(?error, "retrying a read over another connection");
                    close(connection);
                    // The cause has probably broken older connections too.
                    drop(self.inner.retain(|other, _| other.opened > began));
                    connection = self.connection(deadline).await?;
                }
                _ => {
                    if retry != Retry::SameSession {
                        close(connection);
                    }
                    let no_primary = "the database no longer accepts writes, so its data may be stale";
                    return Err(error.unwrap_or_else(|| unavailable(no_primary)));
                }
            }
            may_retry = false;
        }
    }

    pub(crate) fn connections(&self) -> Connections {
        let status = self.inner.status();
        Connections {
            max: status.max_size,
            in_use: status.size.saturating_sub(status.available),
            idle: status.available,
            waiting: status.waiting,
            timeouts: self.timeouts.load(Ordering::Relaxed),
        }
    }

    /// Runs a statement and, at intervals, a role check in the same round trip: `Err(None)` if the role is lost.
    async fn query(
        &self,
        connection: &Connection,
        sql: &Sql<'_>,
        values: Values<'_>,
    ) -> Result<Vec<Row>, Option<StorageError>> {
        let is_primary = self.inner.manager().hosts.role == Role::Primary;
        connection.last_response().is_outstanding = true;
        let rows = if is_primary && connection.last_response().role_checked.elapsed() > ROLE_CHECK_INTERVAL {
            let began = Instant::now();
            let (is_still_primary, rows) =
                join(Role::is_still_primary(connection), connection.query(sql, values)).await;
            if !is_still_primary? || self.inner.manager().hosts.may_be_stale_primary(connection) {
                return Err(None);
            }
            connection.last_response().role_checked = began;
            rows?
        } else {
            connection.query(sql, values).await?
        };
        connection.last_response().record_response();
        Ok(rows)
    }

    async fn connection(&self, deadline: Instant) -> Result<Object<Connector>, StorageError> {
        loop {
            match timeout_at(deadline, self.inner.get()).await {
                Ok(Ok(connection)) => return Ok(connection),
                // Other clients use the slots, and may release some soon.
                Ok(Err(PoolError::Backend(error)))
                    if code(&error) == Some(&SqlState::TOO_MANY_CONNECTIONS)
                        && self.inner.status().size > 0
                        && Instant::now() + SLOT_RETRY_DELAY < deadline =>
                {
                    sleep(SLOT_RETRY_DELAY).await;
                }
                Ok(Err(PoolError::Backend(error))) => return Err(error),
                Ok(Err(error)) => {
                    let message = "the connection pool failed";
                    return Err(StorageError::new(StorageErrorKind::Other, message).with_source(error));
                }
                Err(_) => {
                    let message =
                        "no connection in time: the database is slow or unreachable, or the pool is exhausted";
                    return Err(unavailable(message));
                }
            }
        }
    }
}

/// Closes a connection instead of returning it to the pool.
fn close(connection: Object<Connector>) {
    drop(Object::take(connection));
}

impl Connector {
    fn liveness(&self, change: impl FnOnce(&mut Liveness)) -> Liveness {
        let mut liveness = self.liveness.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut liveness);
        *liveness
    }
}

impl Manager for Connector {
    type Type = Connection;
    type Error = StorageError;

    async fn create(&self) -> Result<Connection, StorageError> {
        self.hosts.connect().await
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<StorageError> {
        if connection.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if connection.opened.elapsed() > MAX_AGE {
            return Err(RecycleError::message("too old"));
        }
        let LastResponse { received, is_outstanding, .. } = *connection.last_response();
        let liveness = self.liveness(|_| ());
        if liveness.check_timed_out.is_some_and(|at| received < at) {
            return Err(RecycleError::message("unresponsive, like another connection"));
        }
        let is_doubtful = liveness.read_timed_out.is_some_and(|at| received < at);
        if is_outstanding || is_doubtful || received.elapsed() > CHECK_AFTER_IDLE {
            let began = Instant::now();
            let check_timeout = if is_outstanding { LATE_RESPONSE_TIMEOUT } else { CHECK_TIMEOUT };
            match timeout(check_timeout, connection.check()).await {
                Ok(Ok(())) => connection.last_response().record_response(),
                Ok(Err(_)) => return Err(RecycleError::message("closed")),
                // Behind an unanswered statement, a check gets no response either.
                Err(_) if is_outstanding => return Err(RecycleError::message("its last read was abandoned")),
                Err(_) => {
                    self.liveness(|liveness| liveness.check_timed_out = Some(began));
                    return Err(RecycleError::message("its check timed out"));
                }
            }
        }
        Ok(())
    }
}
