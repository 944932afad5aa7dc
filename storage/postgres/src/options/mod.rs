//! [`Options`]: which database, and how it is spoken to.

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, SslMode};

use crate::address;
use crate::connections::hosts::Newest;
use crate::connections::one_host::{self, OneHost};
use crate::connections::role::Role;
use crate::open_error::OpenError;
use crate::tls::{PARAMETERS, Tls};

pub(crate) use courses::{Courses, quoted};

/// What tokio-postgres takes where an address says nothing: too long to notice that a machine has gone.
const UNSAID_KEEPALIVES_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(10).unwrap();
const DEADLINE: Duration = Duration::from_secs(2);
const GREATEST_LAG: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEPALIVES_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVES_RETRIES: u32 = 3;
/// How long what was sent may stay without a receipt; keepalives notice nothing while there is such.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(60);

/// The address of a database and how it is used. It never prints a password.
#[derive(Clone, Debug)]
pub struct Options {
    hosts: Vec<OneHost>,
    /// Whether each session begins with another host.
    random: bool,
    tls: Tls,
    /// Servers that passwords and courses go to over a network in the clear, without `sslmode=disable`.
    pub(crate) in_the_clear: Vec<String>,
    role: Role,
    replicas: Vec<(OneHost, Tls)>,
    pub(crate) greatest_lag: Duration,
    pub(crate) connections: NonZeroUsize,
    pub(crate) deadline: Duration,
    pub(crate) through_pooler: bool,
    pub(crate) triggers: bool,
    pub(crate) citus: bool,
    pub(crate) courses: Courses,
    newest: Newest,
}

impl Options {
    /// Those of an address as PostgreSQL's own programs take it: `postgres://user:password@host:5432/database`, or
    /// `host=/run/postgresql dbname=catalogue`.
    ///
    /// Several hosts are separated by commas. The one that takes writes is asked, wherever it is after a failover; of
    /// several, the one that was promoted last, while it answers.
    /// `target_session_attrs=any` reads from the first host that answers, and `target_session_attrs=read-only` from a
    /// standby: answers are as old as that server is behind, and a revoked key stays good for as long. What writes has the
    /// primary in any case. A host that does not answer at once is overtaken by the next one.
    ///
    /// Tables are looked for in the first schema of the `search_path` (`options=-c search_path=NAME`). So that a machine that
    /// has gone is noticed within a minute, there are defaults for `connect_timeout`, `keepalives_idle`,
    /// `keepalives_interval`, `keepalives_retries` and `tcp_user_timeout`.
    ///
    /// With the feature `tls`, `sslmode=verify-full` asks for TLS with a server that proves the host's name by an issuer in
    /// the file `sslrootcert` (PEM), or of the system's; `sslcert` and `sslkey` name the client's certificate and key.
    /// `require` and `verify-ca` mean the same. `disable` means no TLS, as does saying nothing, which is warned of where a
    /// host is beyond this machine. `prefer` and `allow` are refused: who is between could choose. Sockets have no TLS. The
    /// files are read now, and not again.
    ///
    /// # Errors
    /// [`OpenError`]: it is no address, has an unknown parameter, says something twice, leaves open what TLS is meant, names
    /// a certificate file that is not good, or asks for TLS and the feature is missing.
    pub fn parse(address: &str) -> Result<Self, OpenError> {
        let names = [&PARAMETERS[..], &["target_session_attrs"]].concat();
        let (rest, said) = address::take(address, &names)?;
        let role = match said.get("target_session_attrs").map(String::as_str) {
            None | Some("read-write" | "primary") => Role::Primary,
            Some("read-only" | "standby") => Role::Standby,
            Some("any") => Role::Any,
            Some(_) => return Err(OpenError::Address),
        };
        // Its own complaint is left out: it may repeat a part of a password.
        let refused = |error: tokio_postgres::Error| match error.source().map(ToString::to_string) {
            Some(cause) if cause.starts_with("unknown option") => OpenError::UnknownParameter,
            _ => OpenError::Address,
        };
        let parse = |text: &str| text.parse::<Config>().map_err(refused);
        let (with_hosts, mut config) = (parse(&rest)?, parse(&address::without_hosts(&rest)?)?);
        let tls = Tls::of(&said)?;
        config.ssl_mode(if matches!(tls, Tls::Off) { SslMode::Disable } else { SslMode::Require });
        if config.get_application_name().is_none() {
            config.application_name("catalogue");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_keepalives_idle() == UNSAID_KEEPALIVES_IDLE {
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
        let hosts = one_host::split(&with_hosts, &config);
        if hosts.is_empty() {
            return Err(OpenError::Address);
        }
        let is_in_the_clear = matches!(tls, Tls::Off) && !said.contains_key("sslmode");
        let in_the_clear = one_host::beyond_this_machine(&hosts).filter(|_| is_in_the_clear).map(str::to_owned);
        Ok(Self {
            hosts,
            random: config.get_load_balance_hosts() == LoadBalanceHosts::Random,
            tls,
            in_the_clear: in_the_clear.into_iter().collect(),
            role,
            replicas: Vec::new(),
            greatest_lag: GREATEST_LAG,
            connections: CONNECTIONS,
            deadline: DEADLINE,
            through_pooler: false,
            triggers: true,
            citus: false,
            courses: Courses::default(),
            newest: Newest::default(),
        })
    }

    /// The request path reads from this standby of the database, and from others in turn where this is called again;
    /// several hosts in one address are several standbys. Each host is to be one server, not a balancer before some.
    ///
    /// A standby is read as long as it is known to be no further behind than [`greatest_lag`](Self::greatest_lag), and is
    /// one; where none is, the primary is, and where that is away a call fails as
    /// [`Unavailable`](catalogue_core::storage::StorageErrorKind::Unavailable). What a standby does not have is looked for
    /// in the primary.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn replica(mut self, address: &str) -> Result<Self, OpenError> {
        let Self { hosts, tls, in_the_clear, .. } = Self::parse(address)?;
        self.in_the_clear.extend(in_the_clear);
        self.replicas.extend(hosts.into_iter().map(|host| (host, tls.clone())));
        Ok(self)
    }

    /// How far behind the primary a [`replica`](Self::replica) may be and still be read; 10 seconds where nothing is said.
    /// For as long a change may be missing from answers, and a revoked key may be good. Once the primary has been away for
    /// that long, nobody knows, and no replica is read.
    #[must_use]
    pub const fn greatest_lag(mut self, lag: Duration) -> Self {
        self.greatest_lag = lag;
        self
    }

    /// How many connections to one server read at the same time, at most; 10 where nothing is said. Each call of
    /// administration has one more, and where there are replicas each server has one more that watches it.
    #[must_use]
    pub const fn connections(mut self, connections: NonZeroUsize) -> Self {
        self.connections = connections;
        self
    }

    /// How long a read of the request path may take in all, the wait for a connection included; 2 seconds where nothing is
    /// said. Past it the call fails and the connection is closed.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// For a pooler that gives out a connection for a transaction alone, such as PgBouncer in its mode `transaction`:
    /// statements have no name, so that each is parsed anew, and nothing is set for a session, not even that it only reads.
    #[must_use]
    pub const fn through_transaction_pooler(mut self) -> Self {
        self.through_pooler = true;
        self
    }

    /// A migration makes new tables without triggers, for an engine that has none. Tables that are there stay as they are.
    #[must_use]
    pub const fn without_triggers(mut self) -> Self {
        self.triggers = false;
        self
    }

    /// A migration spreads the tables over the nodes of a Citus cluster by account, those that are there too, and drops
    /// their triggers. The address names the coordinator. Sessions need no such option, and may name any node.
    #[must_use]
    pub const fn citus(mut self) -> Self {
        self.triggers = false;
        self.citus = true;
        self
    }

    /// Courses are read from the views `catalogue_accounts`, `catalogue_courses`, `catalogue_modules` and, where there is one,
    /// `catalogue_revisions` in that schema, over tables of another program's. Keys and sign-ins stay in tables of ours, in a
    /// schema of their own: `catalogue`, or that of [`schema`](Self::schema). The package's README has the views' columns.
    #[must_use]
    pub fn views(mut self, schema: &str) -> Self {
        self.courses.views = Some(schema.to_owned());
        self
    }

    /// Our tables are in that schema, whatever the `search_path` of the address; a migration makes it where it is missing.
    /// Through a pooler, which hands no setting on, the role needs it: `ALTER ROLE … SET search_path = …`.
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
