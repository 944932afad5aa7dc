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
    /// Servers that have the role that the connection string requests: by default, the primary.
    configured: Pool,
    /// The primary, if the connection string requests another role.
    primary: Option<Pool>,
    replicas: Option<Replicas>,
    deadline: Duration,
}

impl Readers {
    pub(crate) fn new(options: &Options) -> Self {
        let (hosts, connections) = (options.reading(), options.connections.get());
        let primary = (hosts.role != Role::Primary).then(|| Pool::new(options.reading_primary(), connections));
        let configured = Pool::new(hosts, connections);
        Self { configured, primary, replicas: Replicas::watch(options), deadline: options.deadline }
    }

    /// Runs a read within the deadline, and returns the rows of one server.
    ///
    /// If a replica returns no rows, queries a configured server: the rows may not have been replicated yet. Otherwise a
    /// new key would be refused, and clients would discard it.
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
                        tracing::debug!(%error, server = replica.name, "removed a replica from rotation");
                        replica.take_out_of_rotation();
                    }
                }
            }
        }
        self.configured.read(sql, values, deadline).await
    }

    /// Like [`read`](Self::read), but never stale: always queries the primary.
    pub(crate) async fn read_primary(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let pool = self.primary.as_ref().unwrap_or(&self.configured);
        pool.read(sql, values, self.deadline()).await
    }

    /// Checks that a configured server responds, and reports the last known state of the replicas.
    pub(crate) async fn status(&self) -> StorageStatus {
        let connections = self.configured.connections();
        let checked = self.configured.read(&VERSION, &[], self.deadline()).await;
        let replicas = self.replicas.iter().flat_map(Replicas::status);
        StorageStatus { error: checked.err(), connections, replicas: replicas.collect(), ..StorageStatus::default() }
    }
}
