//! [`Role`]: whether a session is with a server that may be asked.

use catalogue_core::storage::StorageError;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::PgLsn;

use super::lag::Log;
use crate::connection::{Connection, Sql};
use crate::error::{code, unavailable};

/// Before anything is set: whether the server would let this session write.
const TAKES_WRITES: &str = "SHOW transaction_read_only";

/// The same, and from then on the session refuses writes; by a parameter of the connection every server would look so.
const TAKES_WRITES_AND_WILL_NOT: &str = "SHOW transaction_read_only; SET default_transaction_read_only = on";

/// For a session that refuses writes by itself: a standby refuses to begin, and what the server was told since is its
/// default. In one transaction, so that it can be asked through any pooler.
const STILL_TAKES_WRITES: &str = "BEGIN READ WRITE; SET LOCAL default_transaction_read_only TO DEFAULT; \
                                  SHOW default_transaction_read_only; ROLLBACK";

/// Why a server is not the primary.
const TAKES_NONE: &str = "a standby, or set read-only; name the primary, or write target_session_attrs=any to read answers that \
                          may be old";

/// The end of all that was committed: with `synchronous_commit = off` also what is not written yet.
const LOG_END: Sql = Sql {
    text: "SELECT pg_current_wal_insert_lsn() AS place, \
           substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline, \
           system_identifier FROM pg_control_system()",
    types: &[],
};

/// Which servers of an address may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The one that takes writes.
    Primary,
    /// Those that take none.
    Standby,
    Any,
}

impl Role {
    /// Begins a session; one with a server of another role is a failure.
    pub(crate) async fn begin(self, connection: &Connection, read_only: bool) -> Result<(), StorageError> {
        if self == Self::Any && !read_only {
            return Ok(());
        }
        let answer = connection.ask(if read_only { TAKES_WRITES_AND_WILL_NOT } else { TAKES_WRITES }).await?;
        match (self, said(&answer)) {
            (Self::Primary, Some("on")) => Err(unavailable(TAKES_NONE)),
            (Self::Standby, Some("off")) => {
                Err(unavailable("no standby; the address asks for one (target_session_attrs)"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the server of a session that refuses writes is still the primary.
    pub(crate) async fn is_still_primary(connection: &Connection) -> Result<bool, StorageError> {
        match connection.ask(STILL_TAKES_WRITES).await {
            Ok(answer) => Ok(said(&answer) != Some("on")),
            // "Cannot set transaction read-write mode during recovery", and the code that would fit better.
            Err(error) => match code(&error) {
                Some(&SqlState::FEATURE_NOT_SUPPORTED | &SqlState::READ_ONLY_SQL_TRANSACTION) => Ok(false),
                _ => Err(error),
            },
        }
    }
}

/// Which log a primary writes, and where that ends.
pub(crate) async fn end_of_log(connection: &Connection) -> Option<(Log, u64)> {
    let rows = connection.query(&LOG_END, &[]).await.ok()?;
    let row = rows.first()?;
    let end: PgLsn = row.try_get("place").ok()?;
    let timeline = u32::from_str_radix(row.try_get("timeline").ok()?, 16).ok()?;
    Some((Log { system: row.try_get("system_identifier").ok()?, timeline }, end.into()))
}

/// The value of the one row that came.
fn said(answer: &[SimpleQueryMessage]) -> Option<&str> {
    answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    })
}
