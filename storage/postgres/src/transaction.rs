//! Transactions that write. An error means that nothing was committed, unless its kind is `OutcomeUnknown`.

use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use tokio::time::timeout;
use tokio_postgres::Error;
use tokio_postgres::error::Severity;

use crate::connection::Connection;
use crate::error::{driver_error, is_locked, unavailable};

/// Timeout for a change, in addition to its wait for a lock, and then for its commit, which may have to reach a standby.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// Like [`DEADLINE`], for a change of many rows.
pub(crate) const BULK_DEADLINE: Duration = Duration::from_secs(60 * 60);

/// Timeout for a wait for another transaction's lock.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Delay before a write whose lock timeout exceeds [`LOCK_TIMEOUT`] logs that it waits.
const LOG_WAIT_AFTER: Duration = Duration::from_secs(1);
/// Like [`LOCK_TIMEOUT`], for a change of many rows.
pub(crate) const LONG_LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs `change` in a transaction, and commits unless it fails or returns `None`; then dropping `connection` rolls back. If
/// `lock_timeout` exceeds [`LOCK_TIMEOUT`], a wait of a second for a lock is logged, and `change` runs again.
pub(crate) async fn transact<T, F>(
    connection: &Connection,
    deadline: Duration,
    lock_timeout: Duration,
    change: impl Fn() -> F,
) -> Result<Option<T>, StorageError>
where
    F: Future<Output = Result<Option<T>, StorageError>>,
{
    let is_long = lock_timeout > LOCK_TIMEOUT;
    let mut outcome =
        run_change(connection, deadline, if is_long { LOG_WAIT_AFTER } else { lock_timeout }, change()).await;
    if is_long && outcome.as_ref().is_err_and(is_locked) {
        tracing::warn!(timeout = ?lock_timeout, "waiting for another program that is writing to the database");
        with_deadline(DEADLINE, async { connection.run("ROLLBACK").await }).await?;
        outcome = run_change(connection, deadline, lock_timeout.saturating_sub(LOG_WAIT_AFTER), change()).await;
    }
    let changed = outcome?;
    if changed.is_some() {
        timeout(DEADLINE, commit(connection)).await.unwrap_or_else(|_| Err(outcome_unknown()))?;
    }
    Ok(changed)
}

/// Begins a transaction that writes. Its settings are local to it, so they hold through any pooler.
pub(crate) async fn begin(connection: &Connection, lock_timeout: Duration) -> Result<(), StorageError> {
    // PostgreSQL treats 0 as no limit, and accepts at most `i32::MAX`.
    let milliseconds = lock_timeout.as_millis().clamp(1, i32::MAX as u128);
    // Citus forwards the settings after `propagate_set_commands` to other nodes.
    let propagation = if connection.is_distributed { "SET LOCAL citus.propagate_set_commands = 'local';" } else { "" };
    let sql =
        format!("BEGIN; SET LOCAL catalogue.writer = 'self'; {propagation} SET LOCAL lock_timeout = {milliseconds}");
    connection.run(&sql).await
}

async fn run_change<T>(
    connection: &Connection,
    deadline: Duration,
    lock_timeout: Duration,
    change: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    with_deadline(deadline + lock_timeout, async {
        begin(connection, lock_timeout).await?;
        change.await
    })
    .await
}

/// Returns the call's outcome, or an error if the database does not respond in time. For calls that commit nothing.
pub(crate) async fn with_deadline<T>(
    deadline: Duration,
    call: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    timeout(deadline, call).await.unwrap_or_else(|_| Err(unavailable("the database did not respond in time")))
}

/// Commits, without a timeout.
pub(crate) async fn commit(connection: &Connection) -> Result<(), StorageError> {
    if connection.is_closed() {
        return Err(unavailable("the database closed the connection before the commit"));
    }
    connection.run("COMMIT").await.map_err(|error| match is_refusal(&error) {
        true => error,
        false => outcome_unknown().with_source(error),
    })
}

fn outcome_unknown() -> StorageError {
    StorageError::new(StorageErrorKind::OutcomeUnknown, "the database did not confirm the commit")
}

/// Returns `true` if the error of a `COMMIT` means a rollback. The outcome is unknown if the database closes the connection
/// during the wait for a standby, or returns a code for an unknown outcome, as distributed databases do.
fn is_refusal(error: &StorageError) -> bool {
    driver_error(error).and_then(Error::as_db_error).is_some_and(|refusal| {
        let is_unknown = refusal.code().code().starts_with("08") || refusal.code().code() == "40003";
        refusal.parsed_severity() == Some(Severity::Error) && !is_unknown
    })
}
