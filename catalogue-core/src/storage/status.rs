//! [`StorageStatus`]: state of a storage's servers, for operators.

use std::time::Duration;

use super::StorageError;

/// State of the server that a storage writes to (the primary), and of the replicas that serve reads.
#[derive(Debug, Default)]
pub struct StorageStatus {
    /// Why the server does not respond, or is not the primary; `None` if it responds as the primary.
    pub error: Option<StorageError>,
    /// Connections of the request path to the primary.
    pub connections: Connections,
    /// Replicas, in the configured order.
    pub replicas: Vec<ReplicaStatus>,
    /// Whether accounts are distributed over several servers: one may be down while the accounts of others get responses.
    pub is_distributed: bool,
    /// Problems that an operator has to fix, although requests succeed: one sentence each.
    pub problems: Vec<String>,
}

/// State of a replica.
#[derive(Clone, Debug, Default)]
pub struct ReplicaStatus {
    /// Its host and port.
    pub server: String,
    /// Whether it responded to the last check.
    pub reachable: bool,
    /// Maximum age of its data, to about a second; `None` if unknown.
    pub lag: Option<Duration>,
    /// Whether the request path reads from it.
    pub in_rotation: bool,
    /// Its connections of the request path.
    pub connections: Connections,
}

/// Connections to one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Maximum number of connections.
    pub max: usize,
    /// Number of connections that are reading now.
    pub in_use: usize,
    /// Number of connections that are open and idle.
    pub idle: usize,
    /// Number of reads that wait for a connection.
    pub waiting: usize,
    /// Number of reads that have timed out since the start.
    pub timeouts: usize,
}
