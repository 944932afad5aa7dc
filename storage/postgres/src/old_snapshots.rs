//! [`OldSnapshot`]: what keeps rows in the tables that nobody needs any more.

use std::time::Duration;

use catalogue_core::storage::StorageError;
use tokio_postgres::types::Type;

use crate::connection::{Connection, Sql};
use crate::rows::get;

/// Of sessions without a database, those that send the log may hold a snapshot for their standby. A vacuum holds none. How
/// long the transaction of another role is open is seen with `pg_read_all_stats` alone.
const OLD_SNAPSHOTS: Sql = Sql {
    text: "SELECT holder, seconds, transactions FROM ( \
           SELECT 'the session ' || pid || coalesce(' of ' || nullif(application_name, ''), '') AS holder, \
           CAST(extract(epoch FROM clock_timestamp() - xact_start) AS FLOAT8) AS seconds, \
           CAST(greatest(age(backend_xid), age(backend_xmin)) AS BIGINT) AS transactions \
           FROM pg_stat_activity WHERE (datname = current_database() OR datname IS NULL) \
           AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL) \
           AND pid <> pg_backend_pid() AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum) UNION ALL \
           SELECT 'the prepared transaction ' || gid, \
           CAST(extract(epoch FROM clock_timestamp() - prepared) AS FLOAT8), CAST(age(transaction) AS BIGINT) \
           FROM pg_prepared_xacts WHERE database = current_database() UNION ALL \
           SELECT 'the replication slot ' || slot_name, CAST(NULL AS FLOAT8), CAST(age(xmin) AS BIGINT) \
           FROM pg_replication_slots WHERE xmin IS NOT NULL) AS held \
           WHERE seconds >= $1 OR (seconds IS NULL AND transactions >= $2) ORDER BY transactions DESC LIMIT 5",
    types: &[Type::FLOAT8, Type::INT8],
};

/// A transaction or a standby for which PostgreSQL keeps rows that were changed or removed since; look-ups read them too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OldSnapshot {
    /// A session with its process and application, a prepared transaction or a replication slot.
    pub holder: String,
    /// How long its transaction has been open; `None` where the database does not say it to this role, or not at all.
    pub age: Option<Duration>,
    /// How many transactions that write have begun since.
    pub transactions: u64,
}

/// Those of at least that age, and where it is not known of at least so many transactions.
pub(crate) async fn old_snapshots(
    connection: &Connection,
    age: Duration,
    transactions: u32,
) -> Result<Vec<OldSnapshot>, StorageError> {
    let (seconds, transactions) = (age.as_secs_f64(), i64::from(transactions));
    let rows = connection.query(&OLD_SNAPSHOTS, &[&seconds, &transactions]).await?;
    let snapshot = |row| {
        let (seconds, transactions): (Option<f64>, i64) = (get(row, "seconds")?, get(row, "transactions")?);
        Ok(OldSnapshot {
            holder: get(row, "holder")?,
            age: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            transactions: transactions.unsigned_abs(),
        })
    };
    rows.iter().map(snapshot).collect()
}
