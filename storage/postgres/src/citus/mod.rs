//! Citus: tables distributed over nodes by account.
//!
//! A statement that changes an account's rows names it, so it runs on one node and waits for no other account or node. A token
//! or a key's id does not contain the account, so `credential_accounts` and `sign_in_accounts` map them to accounts.
//! `credential_accounts` is on every node, and its rows are never updated.
//!
//! The statements are plain SQL, and mean the same on PostgreSQL without Citus.

pub(crate) mod credentials;
pub(crate) mod health;
pub(crate) mod placement;
pub(crate) mod sign_ins;

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::transaction::{DEADLINE, LOCK_TIMEOUT, transact};

/// Timeout for the removal of rows past retention.
const PURGE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) const PURGE_REVOCATIONS: [Sql; 1] =
    [Sql { text: "DELETE FROM revoked_tokens WHERE expires_at <= $1", types: &[Type::INT8] }];

/// Removes rows that ended at or before `ended_by`, on all nodes. A failure is only logged: the next purge removes them.
pub(crate) async fn purge(connection: &Connection, statements: &[Sql<'_>], ended_by: i64) {
    let removal = || async {
        for sql in statements {
            connection.execute(sql, &[&ended_by]).await?;
        }
        Ok(Some(()))
    };
    match timeout(PURGE_TIMEOUT, transact(connection, DEADLINE, LOCK_TIMEOUT, removal)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "cannot delete expired rows; retrying later"),
        Err(_) => tracing::debug!("cannot delete expired rows, as a node does not respond; retrying later"),
    }
}
