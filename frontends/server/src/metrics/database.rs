//! Metrics of a database server and of the connections to it.

use catalogue_core::storage::{Connections, ReplicaStatus, StorageStatus};
use catalogue_observers::prometheus::Exposition;

/// Writes the state of the primary and of the replicas; `None` means that the primary did not respond.
pub(super) fn render(status: Option<&StorageStatus>, out: &mut Exposition) {
    let up = status.is_some_and(|status| status.error.is_none());
    out.single("catalogue_database_up", "Whether the primary responds.", u8::from(up));
    let Some(StorageStatus { connections, replicas, .. }) = status else { return };
    let mut of_connections = |name, help, number: fn(&Connections) -> usize| {
        let mut metric = out.metric(name, help);
        let of_replicas = replicas.iter().map(|replica| (&*replica.server, &replica.connections));
        for (server, connections) in [("primary", connections)].into_iter().chain(of_replicas) {
            metric.value(&[("server", server)], number(connections));
        }
    };
    of_connections("catalogue_database_connections_in_use", "Connections in use.", |pool| pool.in_use);
    of_connections("catalogue_database_connections_idle", "Idle connections.", |pool| pool.idle);
    of_connections("catalogue_database_connections_max", "Maximum number of connections.", |pool| pool.max);
    of_connections("catalogue_database_reads_waiting", "Reads that wait for a connection.", |pool| pool.waiting);
    of_connections("catalogue_database_reads_timed_out_total", "Reads that timed out.", |pool| pool.timeouts);
    if replicas.is_empty() {
        return;
    }
    let mut of_replicas = |name, help, number: fn(&ReplicaStatus) -> Option<f64>| {
        let mut metric = out.metric(name, help);
        for replica in replicas {
            number(replica).inspect(|number| metric.value(&[("server", &replica.server)], number));
        }
    };
    let help = "Whether the replica responded to the last check.";
    of_replicas("catalogue_replica_up", help, |replica| Some(replica.reachable.into()));
    let help = "Whether requests read from the replica.";
    of_replicas("catalogue_replica_read", help, |replica| Some(replica.in_rotation.into()));
    of_replicas("catalogue_replica_lag_seconds", "Replica lag, if known.", |replica| Some(replica.lag?.as_secs_f64()));
}
