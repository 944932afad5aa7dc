//! The listener for those who operate the server: `/live`, `/ready` and `/metrics`, away from the API.
//!
//! It has a serving loop of its own, so it answers while the API's connections are all taken, and until the process ends.

mod pages;
mod probe;
mod readiness;

use std::future::pending;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use catalogue_core::Catalogue;
use catalogue_hyper::{Limits, ServerConfig, Timeouts};
use tokio::net::TcpListener;

use crate::database::Storage;
use crate::logging::Sink;
use crate::metrics::Metrics;
use crate::output;
use pages::Pages;
use probe::Probe;

/// Few connections, which end soon: those who ask are few, and each asks now and then.
fn config() -> ServerConfig {
    let timeouts = Timeouts {
        head: Duration::from_secs(5),
        idle: Duration::from_secs(20),
        stall: Duration::from_secs(10),
        ..Timeouts::default()
    };
    let limits = Limits { connections: 32, ..Limits::default() };
    ServerConfig { timeouts, limits, ..ServerConfig::default() }
}

/// What is known of a server between its start and its end.
#[derive(Debug)]
pub(crate) struct Monitor {
    began: SystemTime,
    log: Arc<Sink>,
    pub(crate) metrics: Metrics,
    /// Once the database is open: what asks it.
    probe: OnceLock<Probe>,
    stopping: AtomicBool,
}

impl Monitor {
    /// Of a server that begins now and logs to `log`.
    pub(crate) fn new(log: Arc<Sink>) -> Arc<Self> {
        let (metrics, probe, stopping) = (Metrics::default(), OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { began: SystemTime::now(), log, metrics, probe, stopping })
    }

    /// The database is open: whether the server is ready is asked of it from now on.
    pub(crate) fn opened(&self, storage: Storage) {
        // A server opens its database once, and serves once.
        let _ = self.probe.set(Probe::new(storage));
    }

    /// That catalogue is served from now on.
    pub(crate) fn serves(&self, catalogue: Catalogue, most_connections: u32) {
        let _ = self.metrics.served.set((catalogue, most_connections));
    }

    /// The server takes no further connection: it is ready no more.
    pub(crate) fn stops(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

/// Answers on `listener` as long as the runtime lives, and says on standard error where.
pub(crate) fn start(listener: TcpListener, address: SocketAddr, monitor: Arc<Monitor>) {
    output::note(&format!("admin on http://{address}"));
    tokio::spawn(catalogue_hyper::serve(listener, Pages(monitor), config(), pending()));
}
