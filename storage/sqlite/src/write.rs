//! [`WriteTransaction`]: the only way to write, so that every change is reported only after its commit.

use std::fs;
use std::ops::Deref;
use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageErrorKind};
use rusqlite::{Connection, Error, ErrorCode};

use crate::connection::{BUSY_TIMEOUT, WAL_SIZE_LIMIT};
use crate::error::storage_error;

/// Time after which a writer with a long timeout logs its wait. A removal waits as long to empty the WAL.
const LOG_WAIT_AFTER: Duration = Duration::from_secs(1);
/// Lock timeout for a change that an operator waits for, such as revoking a leaked key while other programs write.
pub(crate) const LONG_LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// Reason why a removed row may still be in the WAL.
const WAL_STILL_READ: &str =
    "another program is still reading the old state; the next change without such a reader empties the WAL";
/// Maximum time that a checkpoint waits for readers.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(200);
/// Like [`CHECKPOINT_TIMEOUT`], for a WAL beyond [`WAL_SIZE_LIMIT`]. Other writers wait during this time.
const LARGE_CHECKPOINT_TIMEOUT: Duration = Duration::from_secs(2);

/// Write transaction on a dedicated connection. Dropping it rolls it back.
#[derive(Debug)]
pub(crate) struct WriteTransaction(Connection);

impl WriteTransaction {
    /// Begins a transaction as soon as no other program writes, within `timeout`. If `timeout` is long, logs a wait beyond 1 s.
    pub(crate) fn begin(connection: Connection, timeout: Duration) -> Result<Self, StorageError> {
        let log_after = if timeout > BUSY_TIMEOUT { LOG_WAIT_AFTER } else { timeout };
        Self::begin_within(connection, log_after, timeout)
    }

    fn begin_within(connection: Connection, log_after: Duration, timeout: Duration) -> Result<Self, StorageError> {
        if let Err(error) = begin(&connection, log_after) {
            if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) || timeout <= log_after {
                return Err(storage_error(error));
            }
            tracing::warn!(?timeout, "waiting for another program that is writing to the database");
            begin(&connection, timeout.saturating_sub(log_after)).map_err(storage_error)?;
        }
        Ok(Self(connection))
    }

    /// Commits the transaction; if it has changed anything, tries to empty the WAL.
    pub(crate) fn commit(self) -> Result<(), StorageError> {
        self.execute_batch("COMMIT").map_err(commit_error)?;
        // A checkpoint invalidates all cached lookups, so none is made without a change.
        if self.total_changes() > 0 {
            empty_wal(&self);
        }
        Ok(())
    }

    /// Commits, and removes all bytes of deleted rows from the database's files; returns the reason if some may remain.
    ///
    /// `secure_delete` overwrites rows in place. Copies of them that page splits and earlier changes left in unused parts
    /// of pages are removed only by rewriting the file.
    pub(crate) fn commit_and_scrub(self) -> Result<Option<String>, StorageError> {
        self.execute_batch("COMMIT").map_err(commit_error)?;
        let rewritten = self.busy_timeout(BUSY_TIMEOUT).and_then(|()| self.execute_batch("VACUUM"));
        let is_emptied = try_empty_wal(&self, LOG_WAIT_AFTER);
        Ok(match rewritten {
            Err(error) => {
                let reason = storage_error(error);
                Some(format!("the file could not be rewritten ({reason}); run SQLite's `VACUUM`"))
            }
            Ok(()) if !is_emptied => Some(WAL_STILL_READ.to_owned()),
            Ok(()) => None,
        })
    }
}

/// Rolls back, and empties a large WAL: pages that did not fit into the cache are in the WAL even after a rollback. Closing
/// this connection does not remove the WAL while others have the database open.
impl Drop for WriteTransaction {
    fn drop(&mut self) {
        if !self.is_autocommit() && self.execute_batch("ROLLBACK").is_ok() && has_large_wal(self) {
            empty_wal(self);
        }
    }
}

impl Deref for WriteTransaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

fn begin(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    // A key that was shown must survive a power failure.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.busy_timeout(timeout)?;
    connection.execute_batch("BEGIN IMMEDIATE")
}

/// Writes the WAL back to the database and empties it, so that SQLite does not apply it to a file that replaces the
/// database. With constant readers SQLite's own checkpoint may never finish, and the WAL would grow.
///
/// An incomplete checkpoint is harmless: all data is committed.
fn empty_wal(connection: &Connection) {
    let timeout = if has_large_wal(connection) { LARGE_CHECKPOINT_TIMEOUT } else { CHECKPOINT_TIMEOUT };
    if !try_empty_wal(connection, timeout) {
        tracing::debug!("cannot empty the WAL: another connection is reading");
    }
}

fn has_large_wal(connection: &Connection) -> bool {
    let wal = connection.path().and_then(|path| fs::metadata(format!("{path}-wal")).ok());
    wal.is_some_and(|wal| wal.len() > WAL_SIZE_LIMIT as u64)
}

/// Returns whether the WAL was emptied within `timeout`.
fn try_empty_wal(connection: &Connection, timeout: Duration) -> bool {
    let checkpoint = connection
        .busy_timeout(timeout)
        .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0)));
    matches!(checkpoint, Ok(false))
}

/// Converts the error of a commit. After a failed read or write, the transaction has no commit mark, so it is rolled back.
/// After a later failure, mostly of the sync, the outcome is unknown. The transaction is in the WAL, invisible for now, but it
/// takes effect if the WAL is recovered before another transaction overwrites it.
fn commit_error(error: Error) -> StorageError {
    use rusqlite::ffi::{SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_WRITE};

    let rolled_back = [SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_WRITE];
    match error.sqlite_error() {
        Some(cause) if cause.code == ErrorCode::SystemIoFailure && rolled_back.contains(&cause.extended_code) => {
            storage_error(error)
        }
        Some(cause) if matches!(cause.code, ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => {
            let message = "the disk failed during the commit";
            StorageError::new(StorageErrorKind::OutcomeUnknown, message).with_source(error)
        }
        _ => storage_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    #[test]
    fn long_wait_fails_with_busy() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Connection::open(directory.path().join("c.db")).unwrap();
        let first = WriteTransaction::begin(open(), BUSY_TIMEOUT).unwrap();
        let refused = WriteTransaction::begin_within(open(), MOMENT, 2 * MOMENT).unwrap_err();
        assert_eq!(refused.kind(), StorageErrorKind::Busy);
        assert!(refused.to_string().contains("another program is writing"), "{refused}");
        first.commit().unwrap();
        WriteTransaction::begin_within(open(), MOMENT, MOMENT).unwrap();
    }

    #[test]
    fn dropping_large_transaction_truncates_wal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.db");
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        let size = || fs::metadata(directory.path().join("c.db-wal")).unwrap().len();
        let transaction = WriteTransaction::begin(Connection::open(&path).unwrap(), BUSY_TIMEOUT).unwrap();
        transaction.execute("INSERT INTO t VALUES (zeroblob(?1))", [WAL_SIZE_LIMIT + (8 << 20)]).unwrap();
        assert!(size() > WAL_SIZE_LIMIT as u64);
        drop(transaction);
        assert_eq!(size(), 0);
        let count = reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u32>(0));
        assert_eq!(count, Ok(0));
    }

    #[test]
    fn commit_and_scrub_reports_remaining_readers() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Connection::open(directory.path().join("c.db")).unwrap();
        let reader = open();
        reader.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let remove = || {
            let transaction = WriteTransaction::begin(open(), BUSY_TIMEOUT).unwrap();
            transaction.execute("DELETE FROM t", []).unwrap();
            transaction.commit_and_scrub().unwrap()
        };
        reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
        assert!(remove().unwrap().contains("is still reading the old state"));
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(remove(), None);
    }
}
