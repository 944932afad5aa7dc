//! [`Readiness`]: whether requests should be sent to this server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::Probe;

/// Where the server is between its start and its end, and whom to ask meanwhile.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    probe: OnceLock<Probe>,
    serving: AtomicBool,
    stopping: AtomicBool,
}

/// What was found: the name of each check, and what is wrong.
#[derive(Debug)]
pub(super) struct Found(Vec<(&'static str, Result<(), String>)>);

impl Readiness {
    pub(super) fn opened(&self, probe: Probe) {
        // A server opens its database once.
        let _ = self.probe.set(probe);
    }

    pub(super) fn serves(&self) {
        self.serving.store(true, Ordering::Relaxed);
    }

    pub(super) fn stops(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Asks all there is to ask.
    pub(super) async fn check(&self) -> Found {
        let mut found = Vec::new();
        if let Some(probe) = self.probe.get() {
            found.extend(probe.ask().await);
        } else {
            found.push(("database", Err("not open yet".to_owned())));
        }
        // Last, as the server may be told to end meanwhile.
        found.insert(0, ("server", self.phase().map_err(str::to_owned)));
        Found(found)
    }

    fn phase(&self) -> Result<(), &'static str> {
        if self.stopping.load(Ordering::Relaxed) {
            Err("stopping")
        } else if self.serving.load(Ordering::Relaxed) {
            Ok(())
        } else {
            Err("starting")
        }
    }
}

impl Found {
    pub(super) fn is_ready(&self) -> bool {
        self.0.iter().all(|(_, outcome)| outcome.is_ok())
    }

    /// `{"ready":true,"checks":{"server":"ok",…}}`
    pub(super) fn to_json(&self) -> String {
        let outcome = |outcome: &Result<(), String>| outcome.as_ref().map_or_else(|wrong| &**wrong, |()| "ok").into();
        let checks: Map<String, Value> =
            self.0.iter().map(|(name, found)| ((*name).to_owned(), outcome(found))).collect();
        json!({ "ready": self.is_ready(), "checks": checks }).to_string()
    }
}
