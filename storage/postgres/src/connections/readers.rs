//! [`Readers`]: where the request path reads.

use std::time::Duration;

use bytes::BytesMut;
use catalogue_core::storage::{StorageError, StorageStatus};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::pool::Pool;
use super::replicas::Replicas;
use super::role::Role;
use super::shards::{Shard, Shards};
use crate::connection::{Sql, Values};
use crate::options::Options;

/// What a server must be able to read.
const HEALTH_CHECK: Sql =
    Sql { text: "SELECT version FROM catalogue_schema_version WHERE id = $1", types: &[Type::INT8] };

/// The servers that are read from.
pub(crate) struct Readers {
    /// Those of the address.
    primary: Pool,
    /// The one that takes writes, where the address names others to be read.
    writable: Option<Pool>,
    replicas: Option<Replicas>,
    /// Where tables are spread over nodes.
    shards: Option<Shards>,
    deadline: Duration,
}

impl Readers {
    pub(crate) fn new(options: &Options, is_spread: bool) -> Self {
        let (hosts, connections) = (options.reading(), options.connections.get());
        let writable = (hosts.role != Role::Primary).then(|| Pool::new(options.reading_primary(), connections));
        let primary = Pool::new(hosts, connections);
        let shards = is_spread.then(|| Shards::new(connections));
        Self { primary, writable, replicas: Replicas::watch(options), shards, deadline: options.deadline }
    }

    /// Runs a statement that reads, all of it over one server and within the deadline.
    ///
    /// An answer without a row is taken from the primary alone: what a replica does not have may not have come there yet,
    /// and a new key would be refused, which makes clients throw it away.
    pub(crate) async fn read(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        self.read_by(sql, values, self.deadline(), self.shard(sql, values)).await
    }

    /// The shard of a statement, whose first value says where its rows are, if it is one account or digest.
    pub(crate) fn shard(&self, sql: &Sql<'_>, values: Values<'_>) -> Option<Shard<'_>> {
        let (shards, of) = (self.shards.as_ref()?, sql.types.first()?);
        let mut key = BytesMut::new();
        [Type::TEXT, Type::BYTEA].contains(of).then(|| values[0].to_sql_checked(of, &mut key))?.ok()?;
        Some(shards.of(&key))
    }

    /// By when a read that begins now has to end.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.deadline
    }

    /// The same by then, of that shard, if it is about one.
    pub(crate) async fn read_by(
        &self,
        sql: &Sql<'_>,
        values: Values<'_>,
        deadline: Instant,
        shard: Option<Shard<'_>>,
    ) -> Result<Vec<Row>, StorageError> {
        if let Some(replicas) = &self.replicas {
            for replica in replicas.in_turn() {
                // Each leaves as much time as it takes to those after it.
                let share = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
                match replica.pool.read(sql, values, share, None).await {
                    Ok(rows) if !rows.is_empty() && replica.may_be_read() => return Ok(rows),
                    Ok(_) => break,
                    Err(error) => {
                        tracing::debug!(%error, server = replica.name, "a replica is set aside");
                        replica.set_aside();
                    }
                }
            }
        }
        self.primary.read(sql, values, deadline, shard).await
    }

    /// The same for what must never be old: by the server that takes writes, whatever others may be read.
    pub(crate) async fn read_primary(&self, sql: &Sql<'_>, values: Values<'_>) -> Result<Vec<Row>, StorageError> {
        let pool = self.writable.as_ref().unwrap_or(&self.primary);
        pool.read(sql, values, self.deadline(), self.shard(sql, values)).await
    }

    /// Checks that the primary answers, and says what is known of the others.
    pub(crate) async fn status(&self) -> StorageStatus {
        let connections = self.primary.connections();
        let asked = self.primary.read(&HEALTH_CHECK, &[&1_i64], self.deadline(), None).await;
        let replicas = self.replicas.iter().flat_map(Replicas::status);
        StorageStatus { error: asked.err(), connections, replicas: replicas.collect(), ..StorageStatus::default() }
    }
}
