//! Citus: tables that are spread over nodes by account.
//!
//! A change of rows names their account there, so that it is a matter of one node: it waits for no other account, and for no
//! other node. A token and an id of a key say nothing of the account, so two tables have the account of each digest: that of
//! credentials is on every node, and what a request reads of it never changes.
//!
//! The statements are plain SQL: on PostgreSQL they mean the same.

pub(crate) mod credentials;
pub(crate) mod placement;
pub(crate) mod sign_ins;
pub(crate) mod standing;

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::transaction::{DEADLINE, LOCK_TIMEOUT, transact};

/// How long the removal of what is long over may take.
const PURGE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) const PURGE_REVOCATIONS: [Sql; 1] =
    [Sql { text: "DELETE FROM revoked_tokens WHERE expires_at <= $1", types: &[Type::INT8] }];

/// Removes what had ended by then, of all nodes, in a transaction of its own: nothing else depends on it.
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
