//! Readiness: whether requests should be sent to this server.

use std::sync::atomic::Ordering;

use catalogue_core::storage::{ReplicaStatus, StorageStatus};
use serde_json::{Value, json};

use super::Monitor;

impl Monitor {
    /// Runs all checks. Returns whether the server is ready, and `{"ready":true,"checks":{"server":"ok",…}}`, with
    /// `"replicas"`, `"problems"` and `"issuer"` if there are any. Unresponsive replicas do not matter: no request reads them.
    pub(super) async fn readiness(&self) -> (bool, Value) {
        let (mut checks, mut database) = (Vec::new(), StorageStatus::default());
        if let Some(probe) = self.probe.get() {
            let (results, status) = tokio::join!(probe.run(), probe.status());
            checks.extend(results);
            database = status.flatten().unwrap_or_default();
        } else {
            checks.push(("database", Err("not open yet".to_owned())));
        }
        // Checked last, because a signal to stop may arrive during the other checks.
        checks.insert(0, ("server", self.phase().map_err(str::to_owned)));
        // In a distributed database a failed read of one account does not matter: other accounts may be readable.
        let others_readable = database.is_distributed && database.error.is_none();
        let is_ready = checks.iter().all(|(name, outcome)| outcome.is_ok() || others_readable && *name == "courses");
        let to_value = |outcome: Result<(), String>| outcome.map_or_else(Value::from, |()| "ok".into());
        let checks = checks.into_iter().map(|(name, outcome)| (name.to_owned(), to_value(outcome)));
        let mut body = json!({ "ready": is_ready, "checks": Value::Object(checks.collect()) });
        if !database.replicas.is_empty() {
            body["replicas"] = database.replicas.iter().map(replica).collect();
        }
        if !database.problems.is_empty() {
            body["problems"] = database.problems.into();
        }
        // Does not affect readiness: keys in the storage are accepted without the issuer.
        #[cfg(feature = "oauth")]
        if let Some(tokens) = self.metrics.tokens.get() {
            body["issuer"] = crate::issuer::key_set_status(tokens.signed.keys().age).into();
        }
        (is_ready, body)
    }

    /// Returns the status of an open database server: `Some(None)` if it does not respond in time. `None` for other databases.
    pub(super) async fn database(&self) -> Option<Option<StorageStatus>> {
        self.probe.get()?.status().await
    }

    fn phase(&self) -> Result<(), &'static str> {
        if self.stopping.load(Ordering::Relaxed) {
            return Err("stopping");
        }
        self.metrics.served.get().map(drop).ok_or("starting")
    }
}

fn replica(replica: &ReplicaStatus) -> Value {
    json!({
        "server": replica.server,
        "reachable": replica.reachable,
        "lagSeconds": replica.lag.map(|lag| lag.as_secs_f64()),
        "read": replica.in_rotation,
    })
}
