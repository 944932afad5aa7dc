//! The sessions of [`Options`]: which servers they connect to, and their settings.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio_postgres::Config;

use super::Options;
use crate::connections::host_config::HostConfig;
use crate::connections::hosts::Hosts;
use crate::connections::role::Role;
use crate::tls::Tls;

impl Options {
    /// Returns the hosts for the request path. Without a pooler, they reject writes and cancel statements at the deadline.
    pub(crate) fn reading(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, self.role, true)
    }

    /// Returns the hosts for reads of the primary, and for the session that monitors it.
    pub(crate) fn reading_primary(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, Role::Primary, true)
    }

    /// Returns each replica's name and connection settings, for the request path and for monitoring.
    pub(crate) fn reading_replicas(&self) -> impl Iterator<Item = (String, Hosts)> {
        let sessions = |(host, tls): &(HostConfig, Tls)| self.sessions(slice::from_ref(host), tls, Role::Any, true);
        self.replicas.iter().map(move |replica| (replica.0.0.clone(), sessions(replica)))
    }

    /// Returns the hosts for read-only administration: a standby only if the connection string requests one.
    pub(crate) fn exporting(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, self.role, false)
    }

    /// Returns the hosts for administration that writes: the primary only.
    pub(crate) fn writing(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, Role::Primary, false)
    }

    fn sessions(&self, hosts: &[HostConfig], tls: &Tls, role: Role, reads: bool) -> Hosts {
        let with_settings = |(name, config): &HostConfig| (name.clone(), self.with_settings(config, reads));
        Hosts {
            hosts: hosts.iter().map(with_settings).collect(),
            opened: self.random.then(AtomicUsize::default),
            role,
            read_only: reads,
            named_statements: !self.through_pooler,
            tls: tls.clone(),
            latest_timeline: Arc::clone(&self.latest_timeline),
        }
    }

    pub(super) fn with_settings(&self, config: &Config, reads: bool) -> Config {
        let timeout = reads.then(|| format!("-c statement_timeout={}", self.deadline.as_millis().max(1)));
        let settings: Vec<_> = timeout.into_iter().chain(self.courses.search_path()).collect();
        let mut config = config.clone();
        if !self.through_pooler && !settings.is_empty() {
            let configured = config.get_options().map_or_else(String::new, |configured| format!("{configured} "));
            config.options(format!("{configured}{}", settings.join(" ")));
        }
        config
    }
}
