//! Transactions that write: each tells whether it was committed.

use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use tokio::time::timeout;
use tokio_postgres::Error;
use tokio_postgres::error::Severity;

use crate::connection::Connection;
use crate::error::{driver_error, is_locked, unavailable};

/// How long the database may be silent, beside the wait for a lock: a commit may have to reach a standby.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// The same for a change of many rows.
pub(crate) const LONG: Duration = Duration::from_secs(60 * 60);

/// How long a write waits for a lock of another transaction.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// After so long a patient write says what it waits for.
const SILENT: Duration = Duration::from_secs(1);
/// How long a change of many rows waits for a lock in all.
pub(crate) const PATIENT: Duration = Duration::from_secs(60);

/// Does `change` in a transaction of a connection of its own, with which a failure is undone. `None` commits nothing. Whoever
/// waits for a lock longer than usual says so.
pub(crate) async fn transact<T, F>(
    connection: &Connection,
    deadline: Duration,
    patience: Duration,
    change: impl Fn() -> F,
) -> Result<Option<T>, StorageError>
where
    F: Future<Output = Result<Option<T>, StorageError>>,
{
    let is_patient = patience > LOCK_TIMEOUT;
    let mut outcome = changed(connection, deadline, if is_patient { SILENT } else { patience }, change()).await;
    if is_patient && outcome.as_ref().is_err_and(is_locked) {
        let seconds = patience.as_secs();
        tracing::warn!("waiting for another program that is writing to the database (up to {seconds} s)");
        in_time(DEADLINE, async { connection.run("ROLLBACK").await }).await?;
        outcome = changed(connection, deadline, patience.saturating_sub(SILENT), change()).await;
    }
    let changed = outcome?;
    if changed.is_some() {
        timeout(DEADLINE, commit(connection)).await.unwrap_or_else(|_| Err(unknown()))?;
    }
    Ok(changed)
}

/// Begins a transaction that writes. It is set for the transaction alone, so it holds through any pooler.
pub(crate) async fn begin(connection: &Connection, lock_timeout: Duration) -> Result<(), StorageError> {
    // PostgreSQL takes 0 for no limit, and no more than these.
    let milliseconds = lock_timeout.as_millis().clamp(1, i32::MAX as u128);
    // Citus hands on to other nodes what is set after this.
    let handed_on = if connection.is_spread { "SET LOCAL citus.propagate_set_commands = 'local';" } else { "" };
    let sql =
        format!("BEGIN; SET LOCAL catalogue.writer = 'self'; {handed_on} SET LOCAL lock_timeout = {milliseconds}");
    connection.run(&sql).await
}

async fn changed<T>(
    connection: &Connection,
    deadline: Duration,
    lock_timeout: Duration,
    change: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    in_time(deadline + lock_timeout, async {
        begin(connection, lock_timeout).await?;
        change.await
    })
    .await
}

/// The call's outcome, or an error once the database has been silent for too long. It is for what commits nothing.
pub(crate) async fn in_time<T>(
    deadline: Duration,
    call: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    timeout(deadline, call).await.unwrap_or_else(|_| Err(unavailable("the database does not answer in time")))
}

/// Commits, however long that takes.
pub(crate) async fn commit(connection: &Connection) -> Result<(), StorageError> {
    if connection.is_closed() {
        return Err(unavailable("the database closed the connection before the commit"));
    }
    connection.run("COMMIT").await.map_err(|error| match is_refusal(&error) {
        true => error,
        false => unknown().with_source(error),
    })
}

fn unknown() -> StorageError {
    StorageError::new(StorageErrorKind::OutcomeUnknown, "the database did not confirm the commit")
}

/// Whether the database says that it has undone the transaction instead. A connection that it ends while it waits for a
/// standby may have committed, and databases of several servers have codes for not knowing.
fn is_refusal(error: &StorageError) -> bool {
    driver_error(error).and_then(Error::as_db_error).is_some_and(|answer| {
        let is_unknown = answer.code().code().starts_with("08") || answer.code().code() == "40003";
        answer.parsed_severity() == Some(Severity::Error) && !is_unknown
    })
}
