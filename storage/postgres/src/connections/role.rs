//! [`Role`]: checks that a session's server has the requested role.

use catalogue_core::storage::StorageError;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::PgLsn;

use super::lag::Log;
use crate::connection::{Connection, Sql};
use crate::error::{code, unavailable};

/// Shows whether the server lets this session write, before anything is set.
const SHOW_READ_ONLY: &str = "SHOW transaction_read_only";

/// Like [`SHOW_READ_ONLY`], then makes the session read-only: a connection parameter would hide the server's setting.
const SHOW_AND_SET_READ_ONLY: &str = "SHOW transaction_read_only; SET default_transaction_read_only = on";

/// Checks a read-only session's server: a standby refuses to begin, and the server's current default is shown. In one
/// transaction, so it works through any pooler.
const SHOW_CURRENT_READ_ONLY: &str = "BEGIN READ WRITE; SET LOCAL default_transaction_read_only TO DEFAULT; \
                                  SHOW default_transaction_read_only; ROLLBACK";

/// Why a server is not usable as the primary.
const NOT_PRIMARY: &str = "a standby or read-only; use the primary, or target_session_attrs=any to read stale data";

/// End of the log, including commits that are not written yet, as with `synchronous_commit = off`.
const LOG_END: Sql = Sql {
    text: "SELECT pg_current_wal_insert_lsn() AS place, \
           substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline, \
           system_identifier FROM pg_control_system()",
    types: &[],
};

/// Which servers of a connection string may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The server that accepts writes.
    Primary,
    /// Servers that accept no writes.
    Standby,
    Any,
}

impl Role {
    /// Begins a session, read-only if `read_only`; fails if the server has another role.
    pub(crate) async fn begin(self, connection: &Connection, read_only: bool) -> Result<(), StorageError> {
        if self == Self::Any && !read_only {
            return Ok(());
        }
        let response = connection.query_simple(if read_only { SHOW_AND_SET_READ_ONLY } else { SHOW_READ_ONLY }).await?;
        match (self, single_value(&response)) {
            (Self::Primary, Some("on")) => Err(unavailable(NOT_PRIMARY)),
            (Self::Standby, Some("off")) => Err(unavailable("not a standby, as target_session_attrs requires")),
            _ => Ok(()),
        }
    }

    /// Returns `true` if the server of a read-only session is still the primary.
    pub(crate) async fn is_still_primary(connection: &Connection) -> Result<bool, StorageError> {
        match connection.query_simple(SHOW_CURRENT_READ_ONLY).await {
            Ok(response) => Ok(single_value(&response) != Some("on")),
            // A standby reports the first code ("during recovery"); the second would fit better, so it is accepted too.
            Err(error) => match code(&error) {
                Some(&SqlState::FEATURE_NOT_SUPPORTED | &SqlState::READ_ONLY_SQL_TRANSACTION) => Ok(false),
                _ => Err(error),
            },
        }
    }
}

/// Returns the log that a primary writes, and its end.
pub(crate) async fn end_of_log(connection: &Connection) -> Option<(Log, u64)> {
    let rows = connection.query(&LOG_END, &[]).await.ok()?;
    let row = rows.first()?;
    let end: PgLsn = row.try_get("place").ok()?;
    let timeline = u32::from_str_radix(row.try_get("timeline").ok()?, 16).ok()?;
    Some((Log { system: row.try_get("system_identifier").ok()?, timeline }, end.into()))
}

/// Returns the first value of the first row.
fn single_value(response: &[SimpleQueryMessage]) -> Option<&str> {
    response.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    })
}
