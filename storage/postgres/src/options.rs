//! [`Options`]: which database, and how it is spoken to.

use std::error::Error as _;
use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::address;
use crate::connections::hosts::Hosts;
use crate::connections::one_host;
use crate::connections::role::Role;
use crate::open_error::OpenError;
use crate::tls::{PARAMETERS, Tls};

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
#[derive(Clone)]
pub struct Options {
    config: Config,
    tls: Tls,
    role: Role,
    /// Each with one host.
    replicas: Vec<(Config, Tls)>,
    pub(crate) greatest_lag: Duration,
    pub(crate) connections: NonZeroUsize,
    pub(crate) deadline: Duration,
    pub(crate) through_pooler: bool,
    pub(crate) triggers: bool,
}

impl Options {
    /// The options of an address like `postgres://user:password@host:5432/database`, or of a text like
    /// `host=/run/postgresql dbname=catalogue`, as PostgreSQL's own programs take them.
    ///
    /// Several hosts are separated by commas. The one that takes writes is asked, wherever it is after a failover: a standby
    /// may be behind, and an answer must not be. `target_session_attrs=any` reads from the first host that answers, and
    /// `target_session_attrs=read-only` from a standby; their answers are as old as that server is behind, and a revoked
    /// key stays good for as long. What writes has the primary in any case. A host that does not answer at once is
    /// overtaken by the next one.
    ///
    /// Tables are looked for in the first schema of the `search_path`; another one is chosen with
    /// `options=-c search_path=NAME`. What the address does not say is set so that a machine that has gone is noticed
    /// within a minute: `connect_timeout`, `keepalives_idle`, `keepalives_interval`, `keepalives_retries`,
    /// `tcp_user_timeout`.
    ///
    /// With the feature `tls`, `sslmode=verify-full` asks for TLS with a server that proves the host's name, to the issuers
    /// in the file `sslrootcert` (PEM), or to the system's; `sslcert` and `sslkey` name a certificate of the client and its
    /// key. `require` and `verify-ca` mean the same: there is no TLS here without that proof. `disable` means none, as does
    /// saying nothing, which is warned of where a host is beyond this machine. `prefer` and `allow` are refused, for whoever
    /// is between could choose for them. Sockets have no TLS. The files are read now, and not again.
    ///
    /// # Errors
    /// [`OpenError::Address`] when it is no such address, [`OpenError::UnknownParameter`] when it has a parameter that does
    /// not exist, [`OpenError::Repeated`] when it says something twice,
    /// [`OpenError::SslMode`] when it does not say what TLS is meant,
    /// [`OpenError::Certificate`] when a file that it names is not good, and [`OpenError::NoTls`] when it asks for TLS and
    /// the feature is missing.
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
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let is_unknown = error.source().is_some_and(|cause| cause.to_string().starts_with("unknown option"));
            if is_unknown { OpenError::UnknownParameter } else { OpenError::Address }
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(OpenError::Address);
        }
        let tls = Tls::of(&said)?;
        config.ssl_mode(if tls.is_on() { SslMode::Require } else { SslMode::Disable });
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
        Ok(Self {
            config,
            tls,
            role,
            replicas: Vec::new(),
            greatest_lag: GREATEST_LAG,
            connections: CONNECTIONS,
            deadline: DEADLINE,
            through_pooler: false,
            triggers: true,
        })
    }

    /// The request path reads from this standby of the database, and from others in turn where this is called again;
    /// several hosts in one address are several standbys. Each host is to be one server, not a balancer before some.
    ///
    /// A standby is read as long as it is known to be no further behind than [`greatest_lag`](Self::greatest_lag); where
    /// none is, the primary is, and where that is away a call fails as
    /// [`Unavailable`](catalogue_core::storage::StorageErrorKind::Unavailable). So is one that was promoted: it is not
    /// read until it is a standby again. What a standby does not have is looked for in the primary.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn replica(mut self, address: &str) -> Result<Self, OpenError> {
        let Self { config, tls, .. } = Self::parse(address)?;
        self.replicas.extend(one_host::single(&config).map(|(_, single)| (single, tls.clone())));
        Ok(self)
    }

    /// How far behind the primary a [`replica`](Self::replica) may be and still be read; 10 seconds where nothing is said.
    /// For as long a change may be missing from answers, and a revoked key may be good. The primary is asked at least once
    /// a second how far it is, or ten times as often as this; while it is away nobody knows, and past this time the
    /// replicas are not read either.
    #[must_use]
    pub const fn greatest_lag(mut self, lag: Duration) -> Self {
        self.greatest_lag = lag;
        self
    }

    /// How many connections to one server read at the same time, at most; 10 where nothing is said. Each call of
    /// administration has one more of its own, and where there are replicas each server has one more that watches it.
    #[must_use]
    pub const fn connections(mut self, connections: NonZeroUsize) -> Self {
        self.connections = connections;
        self
    }

    /// How long a read of the request path may take in all: waiting for a connection, opening one, the statement, and
    /// asking once more. 2 seconds where nothing is said. Past it the call fails and the connection is closed.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// For a pooler that gives out a connection for a transaction alone, such as PgBouncer in its mode `transaction`:
    /// statements are sent without a name, and nothing is set for a whole session. The database then parses each
    /// statement anew, and only this crate's own statements keep reads from writing.
    #[must_use]
    pub const fn through_transaction_pooler(mut self) -> Self {
        self.through_pooler = true;
        self
    }

    /// A migration makes the tables without triggers, for an engine that has none. Tables that are there keep the triggers
    /// that they have, or none, whatever an upgrade is told.
    #[must_use]
    pub const fn without_triggers(mut self) -> Self {
        self.triggers = false;
        self
    }

    /// For sessions of the request path: the engine refuses a write, and ends what its client gave up.
    pub(crate) fn reading(&self) -> Hosts {
        self.hosts(&self.with_statement_timeout(&self.config), &self.tls, self.role, true)
    }

    /// For the session that watches the primary.
    pub(crate) fn reading_primary(&self) -> Hosts {
        self.hosts(&self.with_statement_timeout(&self.config), &self.tls, Role::Primary, true)
    }

    pub(crate) fn has_replicas(&self) -> bool {
        !self.replicas.is_empty()
    }

    /// For the request path, the name of each replica and the way to it.
    pub(crate) fn reading_replicas(&self) -> impl Iterator<Item = (String, Hosts)> {
        self.replicas.iter().map(|(config, tls)| {
            let hosts = self.hosts(&self.with_statement_timeout(config), tls, Role::Any, true);
            (hosts.name(), hosts)
        })
    }

    /// For administration that only reads: from a standby only where the address says so.
    pub(crate) fn exporting(&self) -> Hosts {
        self.hosts(&self.config, &self.tls, self.role, false)
    }

    /// For administration that writes: no standby will do.
    pub(crate) fn writing(&self) -> Hosts {
        self.hosts(&self.config, &self.tls, Role::Primary, false)
    }

    fn hosts(&self, config: &Config, tls: &Tls, role: Role, read_only: bool) -> Hosts {
        Hosts::new(config, role, read_only, !self.through_pooler, tls.clone())
    }

    /// Says in the log where passwords and courses would go over a network in the clear without anybody having said so.
    pub(crate) fn warn_of_clear_text(&self) {
        let primary = (&self.config, &self.tls);
        let all = [primary].into_iter().chain(self.replicas.iter().map(|(config, tls)| (config, tls)));
        for (config, _) in all.filter(|(_, tls)| tls.is_off_unasked()) {
            if let Some(server) = one_host::beyond_this_machine(config) {
                tracing::warn!(
                    server,
                    "no TLS to the database; write sslmode=verify-full, or sslmode=disable if it is meant"
                );
            }
        }
    }

    fn with_statement_timeout(&self, config: &Config) -> Config {
        let mut config = config.clone();
        if !self.through_pooler {
            let setting = format!("-c statement_timeout={}", self.deadline.as_millis().max(1));
            config.options(match config.get_options() {
                Some(given) => format!("{given} {setting}"),
                None => setting,
            });
        }
        config
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("hosts", &self.config.get_hosts())
            .field("database", &self.config.get_dbname())
            .field("replicas", &self.replicas.iter().flat_map(|(config, _)| config.get_hosts()).collect::<Vec<_>>())
            .field("greatest_lag", &self.greatest_lag)
            .field("connections", &self.connections)
            .field("deadline", &self.deadline)
            .field("through_pooler", &self.through_pooler)
            .field("triggers", &self.triggers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cret";

    #[test]
    fn an_address_has_several_hosts_and_keeps_its_own_settings() {
        let options = Options::parse(
            "postgres://me:s3cret@one:5433,two/db?target_session_attrs=read-write&connect_timeout=7&keepalives_idle=9\
             &options=-c%20search_path%3Dshop",
        )
        .unwrap();
        assert_eq!(options.role, Role::Primary);
        let config = options.with_statement_timeout(&options.config);
        assert_eq!((config.get_hosts().len(), config.get_ports()), (2, &[5433, 5432][..]));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(9));
        assert_eq!(config.get_options(), Some("-c search_path=shop -c statement_timeout=2000"));
        let pooled = options.clone().through_transaction_pooler().with_statement_timeout(&options.config);
        assert_eq!(pooled.get_options(), Some("-c search_path=shop"));
    }

    #[test]
    fn the_primary_is_read_unless_the_address_says_otherwise() {
        let role = |address: &str| Options::parse(address).unwrap().role;
        assert_eq!(role("postgres://one,two/db"), Role::Primary);
        assert_eq!(role("host=one target_session_attrs=any"), Role::Any);
        assert_eq!(role("postgres://one/db?target_session_attrs=read-only"), Role::Standby);
        assert!(Options::parse("host=one target_session_attrs=some").is_err());
    }

    #[test]
    fn what_an_address_leaves_out_is_bounded() {
        let config = Options::parse("postgresql://host/db").unwrap().config;
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
        assert_eq!(config.get_keepalives_idle(), KEEPALIVES_IDLE);
        assert_eq!(config.get_application_name(), Some("catalogue"));
    }

    #[test]
    fn a_wrong_address_is_refused_without_a_word_of_it() {
        for wrong in [
            "postgres://me:s3cret@host/db?s3cret=1",
            "postgres://me:s3cret@host:s3cret/db",
            "postgres://",
            "s3cret",
            "postgres://me:s3cret@host/db?sslmode=prefer",
            "postgres://me:s3cret@host/db?sslmode=verify-full&sslrootcert=/nowhere",
        ] {
            let error = Options::parse(wrong).unwrap_err();
            assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
        }
        assert!(!format!("{:?}", Options::parse("postgres://me:s3cret@host/db").unwrap()).contains(SECRET));
    }
}
