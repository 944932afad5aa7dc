//! Whether requests should be sent to this server.

use std::sync::atomic::Ordering;

use catalogue_core::storage::{ReplicaStatus, StorageStatus};
use serde_json::{Value, json};

use super::Monitor;

impl Monitor {
    /// Asks all there is to ask: whether the server is ready, and `{"ready":true,"checks":{"server":"ok",…}}`, with
    /// `"replicas"`, `"faults"` and `"issuer"` where there are any. One that does not answer is not read, and makes nobody wait.
    pub(super) async fn readiness(&self) -> (bool, Value) {
        let (mut checks, mut database) = (Vec::new(), StorageStatus::default());
        if let Some(probe) = self.probe.get() {
            let (answers, status) = tokio::join!(probe.ask(), probe.status());
            checks.extend(answers);
            database = status.flatten().unwrap_or_default();
        } else {
            checks.push(("database", Err("not open yet".to_owned())));
        }
        // Last, as the server may be told to end meanwhile.
        checks.insert(0, ("server", self.phase().map_err(str::to_owned)));
        // What one account cannot read, others may.
        let others_read = database.is_spread && database.error.is_none();
        let is_ready = checks.iter().all(|(name, outcome)| outcome.is_ok() || others_read && *name == "courses");
        let shown = |outcome: Result<(), String>| outcome.map_or_else(Value::from, |()| "ok".into());
        let checks = checks.into_iter().map(|(name, outcome)| (name.to_owned(), shown(outcome)));
        let mut found = json!({ "ready": is_ready, "checks": Value::Object(checks.collect()) });
        if !database.replicas.is_empty() {
            found["replicas"] = database.replicas.iter().map(replica).collect();
        }
        if !database.faults.is_empty() {
            found["faults"] = database.faults.into();
        }
        // No reason to send requests elsewhere: keys of the storage are taken without it.
        #[cfg(feature = "oauth")]
        if let Some(tokens) = self.metrics.tokens.get() {
            found["issuer"] = crate::issuer::standing(tokens.signed.keys().age).into();
        }
        (is_ready, found)
    }

    /// What a database on a server says of itself: `Some(None)` where it says nothing in time, `None` for any other.
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
        "read": replica.is_read,
    })
}
