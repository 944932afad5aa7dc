//! [`Replicas`]: servers that are read instead of the primary, as long as they are known to be near it.

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

/// How often the primary and each replica are asked, at least.
const EVERY: Duration = Duration::from_secs(1);
/// How long after the start it is warned of a replica that is not read.
const WARN_AFTER: Duration = Duration::from_secs(5);
/// How long such an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Nothing is replayed where a server is no standby, or was promoted. The timeline is that of its tables; where the role may
/// see it (`pg_monitor`), that of its stream, which is known sooner after a failover.
const REPLAYED: Sql = Sql {
    text: "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END AS place, system_identifier, \
           greatest((SELECT min_recovery_end_timeline FROM pg_control_recovery()), \
           (SELECT max(received_tli) FROM pg_stat_wal_receiver)) AS timeline FROM pg_control_system()",
    types: &[],
};

/// The replicas of one primary, and the tasks that watch them.
pub(crate) struct Replicas {
    all: Vec<Arc<Replica>>,
    next: AtomicUsize,
    _watch: JoinSet<()>,
}

/// One server.
pub(crate) struct Replica {
    pub(crate) name: String,
    pub(crate) pool: Pool,
    greatest_lag: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// All that was committed then is in it.
    as_of: Option<Instant>,
    /// It answered when it was asked last.
    answers: bool,
}

impl Replicas {
    /// Begins to watch them, where there are any; that ends with this value.
    pub(crate) fn watch(options: &Options) -> Option<Self> {
        let (mut all, mut watch) = (Vec::new(), JoinSet::new());
        let samples = Arc::new(Mutex::new(Samples::default()));
        let greatest_lag = options.greatest_lag;
        let every = (greatest_lag / 10).clamp(Duration::from_millis(20), EVERY);
        // Two ways to each: for what is read, and for what is asked of it.
        for ((name, hosts), (_, asked)) in options.reading_replicas().zip(options.reading_replicas()) {
            let pool = Pool::new(hosts, options.connections.get());
            let replica = Arc::new(Replica { name, pool, greatest_lag, state: Mutex::default() });
            watch.spawn(watch_replica(Arc::clone(&replica), asked, Arc::clone(&samples), every));
            all.push(replica);
        }
        if all.is_empty() {
            return None;
        }
        watch.spawn(watch_primary(options.reading_primary(), samples, every, greatest_lag));
        Some(Self { all, next: AtomicUsize::new(0), _watch: watch })
    }

    /// Those that may be read, beginning with another one each time.
    pub(crate) fn in_turn(&self) -> impl Iterator<Item = &Replica> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len();
        let (before, after) = self.all.split_at(first);
        after.iter().chain(before).map(|replica| &**replica).filter(|replica| replica.may_be_read())
    }

    pub(crate) fn status(&self) -> impl Iterator<Item = ReplicaStatus> {
        self.all.iter().map(|replica| {
            let state = *replica.state();
            ReplicaStatus {
                server: replica.name.clone(),
                reachable: state.answers,
                lag: state.lag(),
                is_read: replica.may_be_read(),
                connections: replica.pool.connections(),
            }
        })
    }
}

impl Replica {
    /// It is not read until it answers the next time that it is asked how far it is.
    pub(crate) fn set_aside(&self) {
        self.state().answers = false;
    }

    pub(crate) fn may_be_read(&self) -> bool {
        let state = *self.state();
        state.answers && state.lag().is_some_and(|lag| lag <= self.greatest_lag)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How old it may be; `None` where nothing is known.
    fn lag(self) -> Option<Duration> {
        self.as_of.map(|at| at.elapsed())
    }
}

/// Asks the primary where its log ends, for ever.
async fn watch_primary(hosts: Hosts, samples: Arc<Mutex<Samples>>, every: Duration, keep: Duration) {
    let mut connection = None;
    loop {
        let asked = Instant::now();
        if let Some((log, end)) = answer(&mut connection, &hosts, end_of_log).await {
            samples.lock().unwrap_or_else(PoisonError::into_inner).note(asked, log, end, keep);
        }
        sleep(every).await;
    }
}

/// Asks a replica how far it is, for ever.
async fn watch_replica(replica: Arc<Replica>, hosts: Hosts, samples: Arc<Mutex<Samples>>, every: Duration) {
    let mut connection = None;
    let (mut was_read, mut warned) = (false, false);
    let began = Instant::now();
    loop {
        let replayed = answer(&mut connection, &hosts, replayed).await;
        let state = {
            let samples = samples.lock().unwrap_or_else(PoisonError::into_inner);
            let mut state = replica.state();
            state.answers = replayed.is_some();
            match replayed {
                Some((Some(place), log)) => state.as_of = samples.as_of(state.as_of, log, place),
                // A primary now. Whether it is the one that is written to is not known here.
                Some((None, _)) => state.as_of = None,
                None => {}
            }
            *state
        };
        let is_read = replica.may_be_read();
        // One that is never read must not go unnoticed: the primary has its load.
        let never = !is_read && !warned && began.elapsed() > WARN_AFTER;
        if never || (was_read && !is_read) {
            tracing::warn!(server = replica.name, answers = state.answers, lag = ?state.lag(), "a replica is not read");
            warned = true;
        } else if is_read && !was_read {
            tracing::info!(server = replica.name, "a replica is read");
        }
        was_read = is_read;
        warned |= is_read;
        sleep(every).await;
    }
}

/// What a server answers over the connection that is there, or a new one; the connection goes with a failure.
async fn answer<T>(
    kept: &mut Option<Connection>,
    hosts: &Hosts,
    ask: impl AsyncFn(&Connection) -> Option<T>,
) -> Option<T> {
    let asking = async {
        let connection = match kept.take() {
            Some(connection) => connection,
            None => {
                hosts.connect().await.inspect_err(|error| tracing::debug!(%error, "a server does not answer")).ok()?
            }
        };
        let answer = ask(&connection).await?;
        *kept = Some(connection);
        Some(answer)
    };
    timeout(ANSWER_TIMEOUT, asking).await.ok().flatten()
}

async fn replayed(connection: &Connection) -> Option<(Option<u64>, Log)> {
    let rows = connection.query(&REPLAYED, &[]).await.ok()?;
    let row = rows.first()?;
    let place: Option<PgLsn> = row.try_get("place").ok()?;
    let timeline: i32 = row.try_get("timeline").ok()?;
    Some((
        place.map(u64::from),
        Log { system: row.try_get("system_identifier").ok()?, timeline: timeline.try_into().ok()? },
    ))
}
