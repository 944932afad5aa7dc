//! Lookups of links and sessions on Citus, which find the account first.

use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::connections::readers::Readers;
use crate::rows::get;

const BYTEA: Type = Type::BYTEA;
const TEXT: Type = Type::TEXT;

const ACCOUNT_OF_SIGN_IN: Sql =
    Sql { text: "SELECT account_id FROM sign_in_accounts WHERE digest = $1", types: &[BYTEA] };

const FIND_SIGN_IN: Sql = Sql {
    text: "SELECT a.id, a.name, a.email, s.expires_at, TRUE AS is_known FROM sign_ins AS s JOIN accounts AS a ON a.id = s.account_id \
           WHERE s.account_id = $1 AND s.digest = $2 AND s.kind = $3",
    types: &[TEXT, BYTEA, TEXT],
};

/// Inserts a digest's account, or updates the row that an ended link or session of the same account has left.
const INSERT_ACCOUNT_OF_SIGN_IN: Sql = Sql {
    text: "INSERT INTO sign_in_accounts AS known (digest, account_id, expires_at) VALUES ($1, $2, $3) \
           ON CONFLICT (digest) DO UPDATE SET expires_at = $3 WHERE known.account_id = $2",
    types: &[BYTEA, TEXT, Type::INT8],
};

pub(crate) const PURGE_SIGN_INS: [Sql; 2] = [
    Sql { text: "DELETE FROM sign_ins WHERE expires_at <= $1", types: &[Type::INT8] },
    Sql { text: "DELETE FROM sign_in_accounts WHERE expires_at <= $1", types: &[Type::INT8] },
];

/// Returns the rows that a lookup by a single statement returns without Citus. Queries the primary.
pub(crate) async fn look_up(readers: &Readers, digest: &TokenDigest, kind: &str) -> Result<Vec<Row>, StorageError> {
    let digest = digest.as_bytes().as_slice();
    let found = readers.read_primary(&ACCOUNT_OF_SIGN_IN, &[&digest]).await?;
    let Some(row) = found.first() else { return Ok(found) };
    let account: &str = get(row, 0)?;
    readers.read_primary(&FIND_SIGN_IN, &[&account, &digest, &kind]).await
}

/// Maps the digest of a new link or session to its account.
pub(crate) async fn insert_account(
    connection: &Connection,
    digest: &TokenDigest,
    account: &str,
    expires_at: i64,
) -> Result<(), StorageError> {
    let values: Values<'_> = &[&digest.as_bytes().as_slice(), &account, &expires_at];
    match connection.execute(&INSERT_ACCOUNT_OF_SIGN_IN, values).await? {
        0 => Err(StorageError::new(StorageErrorKind::AlreadyExists, "the link or session already exists")),
        _ => Ok(()),
    }
}
