//! Writes revocations of signed tokens, in the caller's transaction.

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::StorageError;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql, Values};
use crate::sign_ins::retention_cutoff;

const INSERT_REVOCATIONS: Sql = Sql {
    text: "INSERT INTO revoked_tokens (digest, expires_at, revoked_at) \
           SELECT revoked.digest, $2, $3 FROM unnest($1) AS revoked (digest) ON CONFLICT (digest) DO NOTHING",
    types: &[Type::BYTEA_ARRAY, Type::INT8, Type::INT8],
};

/// Skips rows locked by another transaction, so the removal never waits.
const REMOVE_REVOCATIONS_PAST_RETENTION: Sql = Sql {
    text: "DELETE FROM revoked_tokens WHERE digest = ANY(ARRAY(SELECT digest FROM revoked_tokens \
           WHERE expires_at <= $1 ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED))",
    types: &[Type::INT8],
};

/// Stores revocations. Also removes revocations past retention, unless the tables are distributed: then the caller does.
pub(crate) async fn add(
    connection: &Connection,
    digests: &[TokenDigest],
    expires_at: Timestamp,
    at: Timestamp,
) -> Result<Option<()>, StorageError> {
    if !connection.is_distributed {
        connection.execute(&REMOVE_REVOCATIONS_PAST_RETENTION, &[&retention_cutoff(at)]).await?;
    }
    // Sorted, so that transactions that store the same digests wait for each other instead of deadlocking.
    let mut digests: Vec<&[u8]> = digests.iter().map(|digest| digest.as_bytes().as_slice()).collect();
    digests.sort_unstable();
    let values: Values<'_> = &[&digests, &expires_at.as_microseconds(), &at.as_microseconds()];
    connection.execute(&INSERT_REVOCATIONS, values).await.map(|_| Some(()))
}
