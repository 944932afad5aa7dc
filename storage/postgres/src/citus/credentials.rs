//! Lookups of credentials on Citus, which find the account first, and records of their uses.

use std::collections::BTreeMap;

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::StorageError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::connections::readers::Readers;
use crate::credentials::FIND_IN_ACCOUNT;
use crate::rows::get;

const BYTEA: Type = Type::BYTEA;
const TEXT: Type = Type::TEXT;

const ACCOUNT_OF_DIGEST: Sql =
    Sql { text: "SELECT account_id FROM credential_accounts WHERE digest = $1", types: &[BYTEA] };

const FIND_CREDENTIAL: Sql = Sql {
    text: "SELECT c.account_id, c.kind, c.id, c.scopes, c.digest, c.expires_at, c.revoked_at, a.revision \
           FROM credentials AS c JOIN accounts AS a ON a.id = c.account_id \
           WHERE c.account_id = $1 AND c.digest = $2",
    types: &[TEXT, BYTEA],
};

const ACCOUNTS_OF_ID: Sql = Sql { text: "SELECT account_id FROM credential_accounts WHERE id = $1", types: &[TEXT] };

/// Runs on every node, since each has a copy of the table.
pub(crate) const REMOVE_ACCOUNTS_OF_CREDENTIALS: Sql =
    Sql { text: "DELETE FROM credential_accounts WHERE digest = ANY($1)", types: &[Type::BYTEA_ARRAY] };

pub(crate) const INSERT_ACCOUNT_OF_DIGEST: Sql = Sql {
    text: "INSERT INTO credential_accounts (digest, account_id, id) VALUES ($1, $2, $3)",
    types: &[BYTEA, TEXT, TEXT],
};

/// Removes an account's rows in the tables that map digests to accounts.
pub(crate) const REMOVE_ACCOUNTS_OF_DIGESTS: [Sql; 2] = [
    Sql { text: "DELETE FROM credential_accounts WHERE account_id = $1", types: &[TEXT] },
    Sql { text: "DELETE FROM sign_in_accounts WHERE account_id = $1", types: &[TEXT] },
];

const RECORD_USE: Sql = Sql {
    text: "UPDATE credentials SET last_used_at = $3 WHERE account_id = $1 AND id = $2 \
           AND (last_used_at IS NULL OR last_used_at < $3)",
    types: &[TEXT, TEXT, Type::INT8],
};

/// Returns the rows that a lookup by a single statement returns without Citus. Both queries share one deadline.
pub(crate) async fn look_up(readers: &Readers, digest: &TokenDigest) -> Result<Vec<Row>, StorageError> {
    let (deadline, digest) = (readers.deadline(), digest.as_bytes().as_slice());
    let found = readers.read_by(&ACCOUNT_OF_DIGEST, &[&digest], deadline).await?;
    let Some(row) = found.first() else { return Ok(found) };
    let account: &str = get(row, 0)?;
    readers.read_by(&FIND_CREDENTIAL, &[&account, &digest], deadline).await
}

/// Returns the rows of the credential `id`.
pub(crate) async fn find(connection: &Connection, id: &str) -> Result<Vec<Row>, StorageError> {
    for row in connection.query(&ACCOUNTS_OF_ID, &[&id]).await? {
        let account: &str = get(&row, 0)?;
        let found = connection.query(&FIND_IN_ACCOUNT, &[&account, &id]).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Records uses one by one, so that no other writer waits for all of them; continues if a node is down.
pub(crate) async fn record_uses(
    connection: &Connection,
    latest: &BTreeMap<(&str, &str), Timestamp>,
) -> Result<(), StorageError> {
    let mut recorded = Ok(());
    for ((account, id), at) in latest {
        let changed = connection.execute(&RECORD_USE, &[account, id, &at.as_microseconds()]).await;
        recorded = recorded.and(changed.map(|_| ()));
    }
    recorded
}
