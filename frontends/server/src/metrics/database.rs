//! What a database on a server and the connections to it tell.

use catalogue_core::storage::{Connections, ReplicaStatus, StorageStatus};

use super::exposition::{Exposition, Metric};

/// Writes the state of the primary and of the replicas; without one, the primary gave no answer.
pub(super) fn render(status: Option<&StorageStatus>, out: &mut Exposition) {
    let up = status.is_some_and(|status| status.error.is_none());
    out.gauge("catalogue_database_up", "Whether the primary answers, asked now.").value(u8::from(up));
    let Some(status) = status else { return };
    let replicas = || status.replicas.iter();
    let pools = || {
        let primary = [("primary", status.connections)];
        primary.into_iter().chain(replicas().map(|replica| (&*replica.server, replica.connections)))
    };
    let mut each = |name, help, values: &dyn Fn(&Connections) -> usize| {
        let mut metric = out.gauge(name, help);
        for (server, connections) in pools() {
            metric.labelled(&[("server", server)], values(&connections));
        }
    };
    each("catalogue_database_connections_in_use", "Connections that read now.", &|pool| pool.in_use);
    each("catalogue_database_connections_idle", "Connections that are open and wait for a read.", &|pool| pool.idle);
    each("catalogue_database_connections_max", "Connections that there may be.", &|pool| pool.at_most);
    each("catalogue_database_reads_waiting", "Reads that wait for a connection.", &|pool| pool.waiting);
    if status.replicas.is_empty() {
        return;
    }
    let truth = |metric: &mut Metric<'_>, is_so: fn(&ReplicaStatus) -> bool| {
        for replica in replicas() {
            metric.labelled(&[("server", &replica.server)], u8::from(is_so(replica)));
        }
    };
    truth(&mut out.gauge("catalogue_replica_up", "Whether the replica answered when it was asked last."), |r| {
        r.reachable
    });
    truth(&mut out.gauge("catalogue_replica_read", "Whether requests are read from the replica."), |r| r.is_read);
    let mut lag =
        out.gauge("catalogue_replica_lag_seconds", "How old the replica's state may be, where that is known.");
    for replica in replicas() {
        if let Some(age) = replica.lag {
            lag.labelled(&[("server", &replica.server)], age.as_secs_f64());
        }
    }
}
