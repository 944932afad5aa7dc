//! [`Readiness`]: whether requests should be sent to this server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue_core::storage::{ReplicaStatus, StorageStatus};
use serde_json::{Value, json};

use super::Probe;

/// Where the server is between its start and its end, and whom to ask meanwhile.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    probe: OnceLock<Probe>,
    serving: AtomicBool,
    stopping: AtomicBool,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The name of each check, and what is wrong.
    checks: Vec<(&'static str, Result<(), String>)>,
    /// What is read instead of the primary, as far as it answers; a replica that does not makes nobody wait.
    replicas: Vec<ReplicaStatus>,
}

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
        let (mut checks, mut replicas) = (Vec::new(), Vec::new());
        if let Some(probe) = self.probe.get() {
            let (answers, status) = tokio::join!(probe.ask(), probe.status());
            checks.extend(answers);
            replicas = status.flatten().map_or_else(Vec::new, |status| status.replicas);
        } else {
            checks.push(("database", Err("not open yet".to_owned())));
        }
        // Last, as the server may be told to end meanwhile.
        checks.insert(0, ("server", self.phase().map_err(str::to_owned)));
        Found { checks, replicas }
    }

    /// What the database says of itself, as [`Probe::status`] does.
    pub(super) async fn database(&self) -> Option<Option<StorageStatus>> {
        self.probe.get()?.status().await
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
        self.checks.iter().all(|(_, outcome)| outcome.is_ok())
    }

    /// `{"ready":true,"checks":{"server":"ok",…}}`, and `"replicas"` where there are any.
    pub(super) fn to_json(&self) -> String {
        let outcome = |outcome: &Result<(), String>| outcome.as_ref().map_or_else(|wrong| &**wrong, |()| "ok").into();
        let checks = self.checks.iter().map(|(name, found)| ((*name).to_owned(), outcome(found)));
        let mut text = json!({ "ready": self.is_ready(), "checks": Value::Object(checks.collect()) });
        if !self.replicas.is_empty() {
            text["replicas"] = self.replicas.iter().map(replica).collect();
        }
        text.to_string()
    }
}

fn replica(replica: &ReplicaStatus) -> Value {
    json!({
        "server": replica.server,
        "reachable": replica.reachable,
        "lagSeconds": replica.lag.map(|lag| lag.as_secs_f64()),
        "read": replica.is_read,
    })
}
