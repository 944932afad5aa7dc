//! [`Readers`]: all servers that the request path reads from.

use std::time::Duration;

use catalogue_core::storage::{StorageError, StorageStatus};
use tokio::time::Instant;
use tokio_postgres::Row;

use super::pool::Pool;
use super::replicas::Replicas;
use super::role::Role;
use crate::connection::{Sql, Values};
use crate::migration::VERSION;
use crate::options::Options;

/// Pools of the servers to read from.
pub(crate) struct Readers {
    /// The servers of the address.
    primary: Pool,
    /// The primary, if the address allows reads from other servers.
    writable: Option<Pool>,
    replicas: Option<Replicas>,
    deadline: Duration,
}

impl Readers {
    pub(crate) fn new(options: &Options) -> Self {
        let (hosts, connections) = (options.reading(), options.connections.get());
        let writable = (hosts.role != Role::Primary).then(|| Pool::new(options.reading_primary(), connections));
        let primary = Pool::new(hosts, connections);
        Self { primary, writable, replicas: Replicas::watch(options), deadline: options.deadline }
    }

    /// Runs a statement that reads, on one server and within the deadline.
    ///
    /// An empty result of a replica is not trusted, and the primary is queried: the row may not have been replicated yet. A
    /// new key would be refused, and clients would throw it away.
    pub(crate) async fn read(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        self.read_by(sql, values, self.deadline()).await
    }

    /// Returns the deadline for a read that begins now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.deadline
    }

    /// Like [`read`](Self::read), but until `deadline`: for reads of several statements.
    pub(crate) async fn read_by(
        &self,
        sql: &Sql<'_>,
        values: Values<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, StorageError> {
        if let Some(replicas) = &self.replicas {
            for replica in replicas.in_rotation() {
                // Each replica gets half of the remaining time.
                let replica_deadline = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
                match replica.pool.read(sql, values, replica_deadline).await {
                    Ok(rows) if !rows.is_empty() && replica.is_in_rotation() => return Ok(rows),
                    Ok(_) => break,
                    Err(error) => {
                        tracing::debug!(%error, server = replica.name, "a replica is set aside");
                        replica.take_out_of_rotation();
                    }
                }
            }
        }
        self.primary.read(sql, values, deadline).await
    }

    /// Like [`read`](Self::read), but never stale: always queries the primary.
    pub(crate) async fn read_primary(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let pool = self.writable.as_ref().unwrap_or(&self.primary);
        pool.read(sql, values, self.deadline()).await
    }

    /// Checks that the primary responds, and reports what is known of the replicas.
    pub(crate) async fn status(&self) -> StorageStatus {
        let connections = self.primary.connections();
        let checked = self.primary.read(&VERSION, &[], self.deadline()).await;
        let replicas = self.replicas.iter().flat_map(Replicas::status);
        StorageStatus { error: checked.err(), connections, replicas: replicas.collect(), ..StorageStatus::default() }
    }
}
