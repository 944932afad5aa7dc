//! [`Hosts`]: the servers of a connection string; opens sessions with a suitable one.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use catalogue_core::chain;
use catalogue_core::storage::StorageError;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::timeout;

use super::host_config::HostConfig;
use super::lag::Log;
use super::role::{Role, end_of_log};
use crate::connection::Connection;
use crate::error::{code, unavailable};
use crate::tls::Tls;

/// Delay before the next host is tried too.
const ATTEMPT_DELAY: Duration = Duration::from_millis(500);
/// Timeout for opening a session for administration.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Servers of one connection string.
///
/// Connects to each host separately. tokio-postgres has no timeout for a host that accepts and then sends nothing, and it
/// checks the role with a setting that request-path sessions override.
///
/// If several servers accept writes, the one on the highest timeline was promoted last. The others are stale primaries, and
/// are used only if no server on the highest timeline responds.
pub(crate) struct Hosts {
    pub(crate) hosts: Vec<HostConfig>,
    /// Number of sessions opened, if each tries another host first (`load_balance_hosts=random`).
    pub(crate) opened: Option<AtomicUsize>,
    pub(crate) role: Role,
    pub(crate) read_only: bool,
    pub(crate) named_statements: bool,
    pub(crate) tls: Tls,
    pub(crate) latest_timeline: LatestTimeline,
}

/// Log of the last known primary. All sessions of a storage share it.
pub(crate) type LatestTimeline = Arc<Mutex<Option<Log>>>;

impl Hosts {
    /// Makes sessions use unnamed statements: naming a statement that runs only once would cost another round trip.
    pub(crate) fn without_names(self) -> Self {
        Self { named_statements: false, ..self }
    }

    /// Opens a session with the first server that responds and has the role. Uses a possibly stale primary only if no other
    /// server responds.
    pub(crate) async fn connect(&self) -> Result<Connection, StorageError> {
        let (mut attempts, mut failures, mut stale) = (FuturesUnordered::new(), Vec::new(), None);
        for (number, host) in (1..).zip(self.in_order()) {
            attempts.push(self.attempt(host));
            let is_last = number == self.hosts.len();
            loop {
                let delay = if is_last && stale.is_none() { Duration::MAX } else { ATTEMPT_DELAY };
                let Ok(Some(attempted)) = timeout(delay, attempts.next()).await else { break };
                match attempted {
                    Ok(connection) if self.may_be_stale_primary(&connection) => {
                        let is_older_timeline = |other: &Connection| {
                            other.log.zip(connection.log).is_some_and(|(other, log)| other.is_before(log))
                        };
                        if stale.as_ref().is_none_or(is_older_timeline) {
                            stale = Some(connection);
                        }
                    }
                    Ok(connection) => return Ok(self.remember_timeline(connection)),
                    Err(failure) => failures.push(failure),
                }
            }
        }
        stale.map(|connection| self.remember_timeline(connection)).ok_or_else(|| combined_error(failures))
    }

    /// Returns `true` if a session that accepts writes may be with a stale primary: its timeline is older than the latest
    /// known one, or none is known yet. Timelines of different databases are not comparable.
    pub(crate) fn may_be_stale_primary(&self, connection: &Connection) -> bool {
        connection.log.is_some_and(|log| self.latest_timeline().is_none_or(|latest| log.is_before(latest)))
    }

    /// Opens a session for administration.
    pub(crate) async fn open(&self) -> Result<Connection, StorageError> {
        let opened = timeout(OPEN_TIMEOUT, self.connect()).await;
        opened.unwrap_or_else(|_| Err(unavailable("connecting to the database timed out")))
    }

    /// Returns the hosts in configured order, starting with another one each time if the order is random.
    fn in_order(&self) -> impl Iterator<Item = &HostConfig> {
        let first = self.opened.as_ref().map_or(0, |opened| opened.fetch_add(1, Ordering::Relaxed));
        self.hosts.iter().cycle().skip(first % self.hosts.len()).take(self.hosts.len())
    }

    async fn attempt(&self, (name, config): &HostConfig) -> Result<Connection, (String, StorageError)> {
        let opened = async {
            let mut connection = Connection::open(config, &self.tls, self.named_statements).await?;
            self.role.begin(&connection, self.read_only && self.named_statements).await?;
            if self.role == Role::Primary && self.hosts.len() > 1 {
                connection.log = end_of_log(&connection).await.map(|(log, _)| log);
            }
            Ok(connection)
        };
        opened.await.map_err(|error| (name.clone(), error))
    }

    fn remember_timeline(&self, connection: Connection) -> Connection {
        if connection.log.is_some() {
            *self.latest_timeline() = connection.log;
        }
        connection
    }

    fn latest_timeline(&self) -> MutexGuard<'_, Option<Log>> {
        self.latest_timeline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Combines the errors of all hosts. A connection string may name standbys that are only skipped, so errors of other servers
/// take precedence.
fn combined_error(failures: Vec<(String, StorageError)>) -> StorageError {
    let each: Vec<_> = failures.iter().map(|(host, error)| format!("{host}: {}", chain(error))).collect();
    let errors = failures.into_iter().map(|(_, error)| error);
    match errors.max_by_key(|error| (code(error).is_some(), error.source().is_some())) {
        Some(error) if each.len() == 1 => error,
        Some(error) => {
            // A database's message may span several lines.
            let each = each.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
            let all = StorageError::new(error.kind(), format!("no usable server ({each})"));
            if error.source().is_some() { all.with_source(error) } else { all }
        }
        None => unavailable("the connection string has no host"),
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;

    use super::*;

    #[test]
    fn hosts_are_tried_in_order_or_rotated() {
        let firsts = |random: bool| {
            let hosts = Hosts {
                hosts: ["a", "b", "c"].map(|name| (name.to_owned(), Config::new())).into(),
                opened: random.then(AtomicUsize::default),
                role: Role::Any,
                read_only: true,
                named_statements: true,
                tls: Tls::Off,
                latest_timeline: LatestTimeline::default(),
            };
            [0, 1, 2, 3].map(|_| hosts.in_order().map(|(name, _)| name.as_str()).collect::<String>())
        };
        assert_eq!(firsts(false), ["abc", "abc", "abc", "abc"]);
        assert_eq!(firsts(true), ["abc", "bca", "cab", "abc"]);
    }
}
