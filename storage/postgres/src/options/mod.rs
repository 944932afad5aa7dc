//! [`Options`]: the database to use, and how to connect to it.

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, SslMode};

use crate::address;
use crate::connections::host_config::{self, HostConfig};
use crate::connections::hosts::LatestTimeline;
use crate::connections::role::Role;
use crate::open_error::OpenError;
use crate::tls::{PARAMETERS, Tls};

pub(crate) use courses::{Courses, quoted};

/// Idle time before keepalives that tokio-postgres uses by default: too long to notice a lost machine.
const DRIVER_DEFAULT_KEEPALIVES_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(10).unwrap();
const DEADLINE: Duration = Duration::from_secs(2);
const MAX_REPLICA_LAG: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEPALIVES_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVES_RETRIES: u32 = 3;
/// Timeout for unacknowledged data: keepalives detect nothing while data is outstanding.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(60);

/// Servers of a database, and settings of connections to it. `Debug` never prints a password.
#[derive(Clone, Debug)]
pub struct Options {
    hosts: Vec<HostConfig>,
    /// Whether each session tries another host first.
    random: bool,
    tls: Tls,
    /// First remote server of each connection string that has neither TLS nor `sslmode=disable`.
    pub(crate) unencrypted_servers: Vec<String>,
    role: Role,
    replicas: Vec<(HostConfig, Tls)>,
    pub(crate) max_replica_lag: Duration,
    pub(crate) connections: NonZeroUsize,
    pub(crate) deadline: Duration,
    pub(crate) through_pooler: bool,
    pub(crate) triggers: bool,
    pub(crate) citus: bool,
    pub(crate) courses: Courses,
    latest_timeline: LatestTimeline,
}

impl Options {
    /// Parses a connection string in libpq format: `postgres://user:password@host:5432/database`, or
    /// `host=/run/postgresql dbname=catalogue`.
    ///
    /// Hosts are separated by commas. By default, sessions use the primary, also after a failover. If several servers accept
    /// writes, sessions use the one promoted last while it responds. `target_session_attrs=any` reads from the first host
    /// that responds, and `target_session_attrs=read-only` from a standby. Then responses are as old as the server's lag, and a
    /// revoked key stays valid for as long. Writes go to the primary in any case. If a host does not respond within 500 ms,
    /// the next one is tried concurrently.
    ///
    /// The tables are in the first schema of the `search_path` (`options=-c search_path=NAME`). To detect a lost machine
    /// within a minute, `connect_timeout`, `keepalives_idle`, `keepalives_interval`, `keepalives_retries` and
    /// `tcp_user_timeout` have defaults.
    ///
    /// With the feature `tls`, `sslmode=verify-full` requires TLS and a server certificate for the host's name. Its issuer must
    /// be in the file `sslrootcert` (PEM) or among the system's; `sslcert` and `sslkey` name the client's certificate and key.
    /// `require` and `verify-ca` mean the same as `verify-full`. `disable` means no TLS, and so does no `sslmode`, but then a
    /// host on another machine causes a warning. `prefer` and `allow` are refused, because an attacker on the network could
    /// turn TLS off. Unix sockets have no TLS. The files are read once, in this call.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the connection string is invalid, has an unknown parameter or a parameter twice, is ambiguous
    /// about TLS, names an unusable certificate file, or requires TLS without the feature.
    pub fn parse(address: &str) -> Result<Self, OpenError> {
        let names = [&PARAMETERS[..], &["target_session_attrs"]].concat();
        let (rest, parameters) = address::extract(address, &names)?;
        let role = match parameters.get("target_session_attrs").map(String::as_str) {
            None | Some("read-write" | "primary") => Role::Primary,
            Some("read-only" | "standby") => Role::Standby,
            Some("any") => Role::Any,
            Some(_) => return Err(OpenError::Address),
        };
        // Drops the driver's message: it may repeat a part of a password.
        let refused = |error: tokio_postgres::Error| match error.source().map(ToString::to_string) {
            Some(cause) if cause.starts_with("unknown option") => OpenError::UnknownParameter,
            _ => OpenError::Address,
        };
        let parse = |text: &str| text.parse::<Config>().map_err(refused);
        let (with_hosts, mut config) = (parse(&rest)?, parse(&address::without_hosts(&rest)?)?);
        let tls = Tls::of(&parameters)?;
        config.ssl_mode(if matches!(tls, Tls::Off) { SslMode::Disable } else { SslMode::Require });
        if config.get_application_name().is_none() {
            config.application_name("catalogue");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_keepalives_idle() == DRIVER_DEFAULT_KEEPALIVES_IDLE {
            config.keepalives_idle(KEEPALIVES_IDLE);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(KEEPALIVES_INTERVAL);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(KEEPALIVES_RETRIES);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TCP_USER_TIMEOUT);
        }
        let hosts = host_config::split(&with_hosts, &config);
        if hosts.is_empty() {
            return Err(OpenError::Address);
        }
        let is_unencrypted = matches!(tls, Tls::Off) && !parameters.contains_key("sslmode");
        let unencrypted_servers = host_config::first_remote_host(&hosts).filter(|_| is_unencrypted).map(str::to_owned);
        Ok(Self {
            hosts,
            random: config.get_load_balance_hosts() == LoadBalanceHosts::Random,
            tls,
            unencrypted_servers: unencrypted_servers.into_iter().collect(),
            role,
            replicas: Vec::new(),
            max_replica_lag: MAX_REPLICA_LAG,
            connections: CONNECTIONS,
            deadline: DEADLINE,
            through_pooler: false,
            triggers: true,
            citus: false,
            courses: Courses::default(),
            latest_timeline: LatestTimeline::default(),
        })
    }

    /// Adds a standby that the request path reads from; several are read in turn. Several hosts in one connection
    /// string are several standbys. Each host must be one server, not a load balancer in front of several.
    ///
    /// A server is used only while it is a standby whose lag is known to be at most [`max_replica_lag`](Self::max_replica_lag).
    /// Without such a standby, reads use the primary; if the primary is down too, a call fails as
    /// [`Unavailable`](catalogue_core::storage::StorageErrorKind::Unavailable). Rows that a standby does not have are looked
    /// up in the primary.
    ///
    /// # Errors
    /// Returns the errors of [`parse`](Self::parse).
    pub fn replica(mut self, address: &str) -> Result<Self, OpenError> {
        let Self { hosts, tls, unencrypted_servers, .. } = Self::parse(address)?;
        self.unencrypted_servers.extend(unencrypted_servers);
        self.replicas.extend(hosts.into_iter().map(|host| (host, tls.clone())));
        Ok(self)
    }

    /// Sets the maximum lag of a [`replica`](Self::replica) that is read. Default: 10 seconds. Within the lag, a change may be
    /// missing from responses, and a revoked key may be valid. If the primary is down for longer, no replica's lag is known to
    /// be small enough, and none is read.
    #[must_use]
    pub const fn max_replica_lag(mut self, lag: Duration) -> Self {
        self.max_replica_lag = lag;
        self
    }

    /// Sets the maximum number of concurrent read connections to one server. Default: 10. Each administration call opens one
    /// more, and with replicas each server has one more that monitors it.
    #[must_use]
    pub const fn connections(mut self, connections: NonZeroUsize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the timeout for a read of the request path, including the wait for a connection. Default: 2 seconds. A read that
    /// exceeds it fails, and its connection is closed.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Supports poolers that assign connections per transaction, such as PgBouncer with `pool_mode = transaction`. Statements
    /// are unnamed and parsed each time, and sessions have no settings, not even read-only mode.
    #[must_use]
    pub const fn through_transaction_pooler(mut self) -> Self {
        self.through_pooler = true;
        self
    }

    /// Makes a migration create new tables without triggers, for engines that have none. Existing tables keep their triggers.
    #[must_use]
    pub const fn without_triggers(mut self) -> Self {
        self.triggers = false;
        self
    }

    /// Makes a migration distribute the tables, including existing ones, over the nodes of a Citus cluster by account, and
    /// drop their triggers. The migration must connect to the coordinator; sessions without this option may use any node.
    #[must_use]
    pub const fn citus(mut self) -> Self {
        self.triggers = false;
        self.citus = true;
        self
    }

    /// Reads courses from the views `catalogue_accounts`, `catalogue_courses`, `catalogue_modules` and, if it exists,
    /// `catalogue_revisions` in `schema`, over the host application's tables. Keys and sign-ins stay in the catalogue's
    /// own tables, in a separate schema: `catalogue`, or [`schema`](Self::schema). The README describes the views' columns.
    #[must_use]
    pub fn views(mut self, schema: &str) -> Self {
        self.courses.views = Some(schema.to_owned());
        self
    }

    /// Sets the schema of the catalogue's own tables, whatever `search_path` the connection string sets; a migration creates
    /// it if missing. Poolers do not forward settings: behind one, run `ALTER ROLE ROLE SET search_path = NAME` as well.
    #[must_use]
    pub fn schema(mut self, name: &str) -> Self {
        self.courses.schema = Some(name.to_owned());
        self
    }
}

mod courses;
mod sessions;
#[cfg(test)]
mod tests;
