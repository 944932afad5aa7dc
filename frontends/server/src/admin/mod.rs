//! The operator's listener, separate from the API's listener: `/live`, `/ready` and `/metrics`.
//!
//! It has a dedicated accept loop, so it responds even if all API connections are taken, and until the process ends.

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

/// Limits for operators' clients: few connections with short timeouts, because only a few clients poll, at long intervals.
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

/// State of a server that the pages report, from its start to its end.
#[derive(Debug)]
pub(crate) struct Monitor {
    began: SystemTime,
    log: Arc<Sink>,
    pub(crate) metrics: Metrics,
    /// Probe of the database, once it is open.
    probe: OnceLock<Probe>,
    stopping: AtomicBool,
}

impl Monitor {
    /// Creates the monitor of a server that starts now and logs to `log`.
    pub(crate) fn new(log: Arc<Sink>) -> Arc<Self> {
        let (metrics, probe, stopping) = (Metrics::default(), OnceLock::new(), AtomicBool::new(false));
        Arc::new(Self { began: SystemTime::now(), log, metrics, probe, stopping })
    }

    /// Records that the database is open; from now on readiness depends on it.
    pub(crate) fn set_storage(&self, storage: Storage) {
        // Cannot be set already: a server opens its database once, and serves once.
        let _ = self.probe.set(Probe::new(storage));
    }

    /// Publishes the catalogue, without which the server is not ready.
    pub(crate) fn set_serving(&self, catalogue: Catalogue, max_connections: u32) {
        let _ = self.metrics.served.set((catalogue, max_connections));
    }

    /// Marks the server as stopping: it accepts no further connections and is no longer ready.
    pub(crate) fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

/// Serves the pages on `listener` as long as the runtime lives, and prints their address to standard error.
pub(crate) fn start(listener: TcpListener, address: SocketAddr, monitor: Arc<Monitor>) {
    output::print_note(&format!("admin on http://{address}"));
    tokio::spawn(catalogue_hyper::serve(listener, Pages(monitor), config(), pending()));
}
