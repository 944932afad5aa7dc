//! [`Replicas`]: servers that are read instead of the primary while their lag is known to be small.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalogue_core::storage::ReplicaStatus;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::types::PgLsn;

use super::hosts::Hosts;
use super::lag::{Log, Samples};
use super::pool::Pool;
use super::role::end_of_log;
use crate::connection::{Connection, Sql};
use crate::options::Options;

/// Maximum interval between queries to the primary and each replica.
const MONITOR_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after the start before an unused replica is logged.
const WARN_AFTER: Duration = Duration::from_secs(5);
/// Timeout for a monitoring query.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Position that a standby has replayed; null if the server is not a standby. The timeline is read from the data files and, if
/// the role may (`pg_monitor`), from the replication stream, which has the new one sooner after a failover.
const REPLAYED: Sql = Sql {
    text: "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END AS place, system_identifier, \
           greatest((SELECT min_recovery_end_timeline FROM pg_control_recovery()), \
           (SELECT max(received_tli) FROM pg_stat_wal_receiver)) AS timeline FROM pg_control_system()",
    types: &[],
};

/// Replicas of one primary, and the tasks that monitor them.
pub(crate) struct Replicas {
    all: Vec<Arc<Replica>>,
    next: AtomicUsize,
    _watch: JoinSet<()>,
}

/// A replica, with its connections and what the last query found.
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) pool: Pool,
    max_replica_lag: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// Time as of which the replica is complete: it has everything committed before.
    as_of: Option<Instant>,
    /// Whether the last monitoring query succeeded, and no read has failed since.
    responds: bool,
}

impl Replicas {
    /// Starts to monitor the replicas, if there are any, until this value is dropped.
    pub(crate) fn watch(options: &Options) -> Option<Self> {
        let (mut all, mut watch) = (Vec::new(), JoinSet::new());
        let samples = Arc::new(Mutex::new(Samples::default()));
        let max_replica_lag = options.max_replica_lag;
        let interval = (max_replica_lag / 10).clamp(Duration::from_millis(20), MONITOR_INTERVAL);
        // Two sets of connections to each: for reads, and for monitoring.
        for ((name, hosts), (_, monitored)) in options.reading_replicas().zip(options.reading_replicas()) {
            let pool = Pool::new(hosts, options.connections.get());
            let replica = Arc::new(Replica { name, pool, max_replica_lag, state: Mutex::default() });
            watch.spawn(watch_replica(Arc::clone(&replica), monitored, Arc::clone(&samples), interval));
            all.push(replica);
        }
        if all.is_empty() {
            return None;
        }
        watch.spawn(watch_primary(options.reading_primary(), samples, interval, max_replica_lag));
        Some(Self { all, next: AtomicUsize::new(0), _watch: watch })
    }

    /// Returns the replicas in rotation, starting with another one each time.
    pub(crate) fn in_rotation(&self) -> impl Iterator<Item = &Replica> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len();
        let (before, after) = self.all.split_at(first);
        after.iter().chain(before).map(|replica| &**replica).filter(|replica| replica.is_in_rotation())
    }

    pub(crate) fn status(&self) -> impl Iterator<Item = ReplicaStatus> {
        self.all.iter().map(|replica| {
            let state = *replica.state();
            ReplicaStatus {
                server: replica.name.clone(),
                reachable: state.responds,
                lag: state.lag(),
                in_rotation: replica.is_in_rotation(),
                connections: replica.pool.connections(),
            }
        })
    }
}

impl Replica {
    /// Takes the replica out of rotation until its next successful lag check.
    pub(crate) fn take_out_of_rotation(&self) {
        self.state().responds = false;
    }

    pub(crate) fn is_in_rotation(&self) -> bool {
        let state = *self.state();
        state.responds && state.lag().is_some_and(|lag| lag <= self.max_replica_lag)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns an upper bound of the replica's lag, or `None` if it is unknown.
    fn lag(self) -> Option<Duration> {
        self.as_of.map(|at| at.elapsed())
    }
}

/// Samples the primary's end of log in an endless loop.
async fn watch_primary(hosts: Hosts, samples: Arc<Mutex<Samples>>, interval: Duration, retention: Duration) {
    let mut connection = None;
    loop {
        let queried_at = Instant::now();
        if let Some((log, end)) = query_server(&mut connection, &hosts, end_of_log).await {
            samples.lock().unwrap_or_else(PoisonError::into_inner).record(queried_at, log, end, retention);
        }
        sleep(interval).await;
    }
}

/// Queries a replica's position in an endless loop.
async fn watch_replica(replica: Arc<Replica>, hosts: Hosts, samples: Arc<Mutex<Samples>>, interval: Duration) {
    let mut connection = None;
    let (mut was_in_rotation, mut warned) = (false, false);
    let began = Instant::now();
    loop {
        let replayed = query_server(&mut connection, &hosts, replayed).await;
        let state = {
            let samples = samples.lock().unwrap_or_else(PoisonError::into_inner);
            let mut state = replica.state();
            state.responds = replayed.is_some();
            match replayed {
                Some((Some(position), log)) => state.as_of = samples.as_of(state.as_of, log, position),
                // The server is a primary now, but not necessarily the one that gets the writes.
                Some((None, _)) => state.as_of = None,
                None => {}
            }
            *state
        };
        let is_read = replica.is_in_rotation();
        // Log a replica that is never read, as its load stays on the primary.
        let never = !is_read && !warned && began.elapsed() > WARN_AFTER;
        if never || (was_in_rotation && !is_read) {
            let (responds, lag) = (state.responds, state.lag());
            tracing::warn!(server = replica.name, responds, ?lag, "replica out of rotation");
            warned = true;
        } else if is_read && !was_in_rotation {
            tracing::info!(server = replica.name, "replica in rotation");
        }
        was_in_rotation = is_read;
        warned |= is_read;
        sleep(interval).await;
    }
}

/// Queries a server over the existing connection, or a new one; drops the connection on failure.
async fn query_server<T>(
    idle: &mut Option<Connection>,
    hosts: &Hosts,
    query: impl AsyncFn(&Connection) -> Option<T>,
) -> Option<T> {
    let responding = async {
        let connection = match idle.take() {
            Some(connection) => connection,
            None => hosts.connect().await.inspect_err(|error| tracing::debug!(%error, "cannot connect")).ok()?,
        };
        let response = query(&connection).await?;
        *idle = Some(connection);
        Some(response)
    };
    timeout(RESPONSE_TIMEOUT, responding).await.ok().flatten()
}

async fn replayed(connection: &Connection) -> Option<(Option<u64>, Log)> {
    let rows = connection.query(&REPLAYED, &[]).await.ok()?;
    let row = rows.first()?;
    let position: Option<PgLsn> = row.try_get("place").ok()?;
    let timeline: i32 = row.try_get("timeline").ok()?;
    Some((
        position.map(u64::from),
        Log { system: row.try_get("system_identifier").ok()?, timeline: timeline.try_into().ok()? },
    ))
}
