//! The sessions of [`Options`]: whom they are with, and what is set for them.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio_postgres::Config;

use super::Options;
use crate::connections::hosts::Hosts;
use crate::connections::one_host::OneHost;
use crate::connections::role::Role;
use crate::tls::Tls;

impl Options {
    /// For sessions of the request path: the engine refuses a write, and ends what its client gave up.
    pub(crate) fn reading(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, self.role, true)
    }

    /// For the session that watches the primary.
    pub(crate) fn reading_primary(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, Role::Primary, true)
    }

    /// For the request path, the name of each replica and the way to it.
    pub(crate) fn reading_replicas(&self) -> impl Iterator<Item = (String, Hosts)> {
        let sessions = |(host, tls): &(OneHost, Tls)| self.sessions(slice::from_ref(host), tls, Role::Any, true);
        self.replicas.iter().map(move |replica| (replica.0.0.clone(), sessions(replica)))
    }

    /// For administration that only reads: from a standby only where the address says so.
    pub(crate) fn exporting(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, self.role, false)
    }

    /// For administration that writes: no standby will do.
    pub(crate) fn writing(&self) -> Hosts {
        self.sessions(&self.hosts, &self.tls, Role::Primary, false)
    }

    fn sessions(&self, hosts: &[OneHost], tls: &Tls, role: Role, reads: bool) -> Hosts {
        let with_settings = |(name, config): &OneHost| (name.clone(), self.with_settings(config, reads));
        Hosts {
            hosts: hosts.iter().map(with_settings).collect(),
            opened: self.random.then(AtomicUsize::default),
            role,
            read_only: reads,
            named_statements: !self.through_pooler,
            tls: tls.clone(),
            newest: Arc::clone(&self.newest),
        }
    }

    pub(super) fn with_settings(&self, config: &Config, reads: bool) -> Config {
        let timeout = reads.then(|| format!("-c statement_timeout={}", self.deadline.as_millis().max(1)));
        let settings: Vec<_> = timeout.into_iter().chain(self.courses.search_path()).collect();
        let mut config = config.clone();
        if !self.through_pooler && !settings.is_empty() {
            let given = config.get_options().map_or_else(String::new, |given| format!("{given} "));
            config.options(format!("{given}{}", settings.join(" ")));
        }
        config
    }
}
