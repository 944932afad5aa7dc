//! Writes revocations of signed tokens, in the caller's transaction.

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;
use rusqlite::{Connection, params};

use crate::rows::Micros;
use crate::sign_ins::retention_cutoff;

const INSERT: &str = "INSERT INTO revoked_tokens (digest, expires_at, revoked_at) VALUES (?1, ?2, ?3) \
     ON CONFLICT (digest) DO NOTHING";

/// Removes revocations past retention, 100 at a time to release the lock soon.
const REMOVE_PAST_RETENTION: &str = "DELETE FROM revoked_tokens WHERE digest IN \
     (SELECT digest FROM revoked_tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 100)";

/// Stores revocations, and removes those past retention.
pub(crate) fn add(
    connection: &Connection,
    digests: &[TokenDigest],
    expires_at: Timestamp,
    at: Timestamp,
) -> rusqlite::Result<()> {
    connection.execute(REMOVE_PAST_RETENTION, [retention_cutoff(at)])?;
    let mut statement = connection.prepare(INSERT)?;
    digests.iter().try_for_each(|digest| {
        statement.execute(params![digest.as_bytes(), Micros(expires_at), Micros(at)]).map(|_| ())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn retention_cleanup_reads_one_index_range() {
        let steps = plan(REMOVE_PAST_RETENTION);
        let expected = "SEARCH revoked_tokens USING COVERING INDEX revoked_tokens_by_end (expires_at<?)";
        assert!(steps.iter().any(|step| step == expected), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("USE TEMP")), "{steps:?}");
    }
}
