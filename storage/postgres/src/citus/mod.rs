//! Citus: tables distributed over nodes by account.
//!
//! There, a change of rows names their account, so it involves one node: it waits for no other account or node. A token or a
//! key's id does not reveal the account, so two tables map each digest to it. The one for credentials is on every node, and
//! what requests read of it never changes.
//!
//! The statements are plain SQL, with the same meaning on PostgreSQL.

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

/// Removes rows that ended by `ended_by` from all nodes, in a separate transaction: nothing depends on its success.
pub(crate) async fn purge(connection: &Connection, statements: &[Sql<'_>], ended_by: i64) {
    let removal = || async {
        for sql in statements {
            connection.execute(sql, &[&ended_by]).await?;
        }
        Ok(Some(()))
    };
    match timeout(PURGE_TIMEOUT, transact(connection, DEADLINE, LOCK_TIMEOUT, removal)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "what is long over stays for now"),
        Err(_) => tracing::debug!("what is long over stays for now: a node does not answer"),
    }
}
