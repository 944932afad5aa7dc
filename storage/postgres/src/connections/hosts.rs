//! [`Hosts`]: the servers that an address names, and how a session with the right one of them is found.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, timeout};
use tokio_postgres::Config;

use catalogue_core::storage::StorageError;

use super::connect_error::{ConnectError, Failure};
use super::newest::Newest;
use super::one_host::OneHost;
use super::role::{Role, end_of_log};
use crate::connection::Connection;
use crate::error::unavailable;
use crate::tls::Tls;

/// How long a server is alone in being tried, before the next one is tried beside it.
const ATTEMPT_DELAY: Duration = Duration::from_millis(500);
/// How long it may take to open a session for administration.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one that let the next overtake it is tried last.
const TRIED_LAST_FOR: Duration = Duration::from_secs(30);

/// The servers of one address.
///
/// Each is tried by itself: tokio-postgres would wait for ever for one that takes a connection and says nothing, and judges
/// a session by a setting that those of the request path have changed.
///
/// Of several that take writes, the one on the highest timeline is the last that was promoted. Any other is what a failover
/// has left, and is taken only where none on such a timeline answers.
pub(crate) struct Hosts {
    servers: Vec<Server>,
    /// How many sessions were opened, where each begins with another server (`load_balance_hosts=random`).
    opened: Option<AtomicUsize>,
    pub(crate) role: Role,
    read_only: bool,
    named_statements: bool,
    tls: Tls,
    newest: Newest,
}

struct Server {
    name: String,
    config: Config,
    overtaken: Mutex<Option<Instant>>,
}

impl Hosts {
    /// Those hosts, for sessions of that role, which begin with another one each time where the order is `random`.
    pub(crate) fn new(
        hosts: impl Iterator<Item = OneHost>,
        random: bool,
        role: Role,
        read_only: bool,
        named_statements: bool,
        tls: Tls,
        newest: Newest,
    ) -> Self {
        let servers = hosts.map(|(name, config)| Server { name, config, overtaken: Mutex::default() }).collect();
        Self { servers, opened: random.then(AtomicUsize::default), role, read_only, named_statements, tls, newest }
    }

    /// The same for sessions that ask each statement once: a name would cost it another round trip.
    pub(crate) fn without_names(self) -> Self {
        Self { named_statements: false, ..self }
    }

    /// A session with the first server that answers and has the role; of primaries, with none that a failover has left,
    /// unless the others are silent or away.
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        let mut waiting = self.in_order().into_iter();
        let mut under_way: Vec<&Server> = Vec::new();
        let mut attempts = FuturesUnordered::new();
        let mut failures = Vec::new();
        let mut left: Option<(&Server, Connection)> = None;
        loop {
            if let Some(server) = waiting.next() {
                under_way.push(server);
                attempts.push(async move { (server, self.attempt(server).await) });
            }
            let finished = match (waiting.len(), &left) {
                (0, None) => attempts.next().await,
                (others, _) => match timeout(ATTEMPT_DELAY, attempts.next()).await {
                    Ok(finished) => finished,
                    Err(_) if others > 0 => continue,
                    Err(_) => None,
                },
            };
            let (server, connection) = match finished {
                Some((server, Ok(connection))) if !self.may_be_left(&connection) => (server, connection),
                Some((server, Ok(connection))) => {
                    under_way.retain(|other| other.name != server.name);
                    let older = |(_, other): &(_, Connection)| {
                        other.log.zip(connection.log).is_some_and(|(a, b)| a.is_before(b))
                    };
                    if left.as_ref().is_none_or(older) {
                        left = Some((server, connection));
                    }
                    continue;
                }
                Some((server, Err(failure))) => {
                    under_way.retain(|other| other.name != server.name);
                    failures.push((server.name.clone(), failure));
                    continue;
                }
                None => left.ok_or_else(|| ConnectError::new(failures))?,
            };
            server.note(None);
            for slower in under_way.into_iter().filter(|other| other.name != server.name) {
                slower.note(Some(Instant::now()));
            }
            connection.log.inspect(|log| self.newest.note(*log));
            return Ok(connection);
        }
    }

    /// Whether a failover may have left the session's server, which takes writes all the same.
    pub(crate) fn may_be_left(&self, connection: &Connection) -> bool {
        connection.log.is_some_and(|log| self.newest.may_be_after(log))
    }

    /// A session for administration.
    pub(crate) async fn open(&self) -> Result<Connection, StorageError> {
        let opened = timeout(OPEN_TIMEOUT, self.connect()).await;
        let opened = opened.map_err(|_| unavailable("the database does not answer to a new connection"))?;
        opened.map_err(ConnectError::into_storage_error)
    }

    /// As the address has them; those last that were silent of late.
    fn in_order(&self) -> Vec<&Server> {
        let first =
            self.opened.as_ref().map_or(0, |opened| opened.fetch_add(1, Ordering::Relaxed) % self.servers.len());
        let (before, after) = self.servers.split_at(first);
        let (late, in_time): (Vec<_>, Vec<_>) = after.iter().chain(before).partition(|server| server.was_overtaken());
        in_time.into_iter().chain(late).collect()
    }

    async fn attempt(&self, server: &Server) -> Result<Connection, Failure> {
        let mut connection = Connection::open(&server.config, &self.tls, self.named_statements).await?;
        self.role.begin(&connection, self.read_only && self.named_statements).await?;
        if self.role == Role::Primary && self.servers.len() > 1 {
            connection.log = end_of_log(&connection).await.map(|(log, _)| log);
        }
        Ok(connection)
    }
}

impl Server {
    fn note(&self, overtaken: Option<Instant>) {
        *self.overtaken.lock().unwrap_or_else(PoisonError::into_inner) = overtaken;
    }

    fn was_overtaken(&self) -> bool {
        let overtaken = *self.overtaken.lock().unwrap_or_else(PoisonError::into_inner);
        overtaken.is_some_and(|at| at.elapsed() < TRIED_LAST_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_tried_in_order_or_from_another_one_each_time() {
        let firsts = |random| {
            let servers = ["a", "b", "c"].into_iter().map(|name| (name.to_owned(), Config::new()));
            let hosts =
                Hosts::new(servers, random, Role::Any, true, true, Tls::Off { asked_for: true }, Newest::default());
            hosts.servers[1].note(Some(Instant::now()));
            [0, 1, 2].map(|_| hosts.in_order().iter().map(|server| server.name.as_str()).collect::<String>())
        };
        assert_eq!(firsts(false), ["acb", "acb", "acb"]);
        assert_eq!(firsts(true), ["acb", "cab", "cab"]);
    }
}
