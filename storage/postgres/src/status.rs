//! [`Status`]: what a page for operators shows of the database.

use std::time::Duration;

use catalogue_core::StorageError;

use crate::pool::Connections;

/// The state of the primary and of the replicas.
#[derive(Debug)]
#[non_exhaustive]
pub struct Status {
    /// The server that is written to.
    pub primary: PrimaryStatus,
    /// In the order in which they were named.
    pub replicas: Vec<ReplicaStatus>,
}

/// The state of the primary.
#[derive(Debug)]
#[non_exhaustive]
pub struct PrimaryStatus {
    /// Why it does not answer, or not as the primary; `None` where it does.
    pub error: Option<StorageError>,
    /// Its connections of the request path.
    pub connections: Connections,
}

/// The state of a replica.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReplicaStatus {
    /// Its host and port.
    pub server: String,
    /// Whether it answered when it was asked last.
    pub reachable: bool,
    /// How old its state may be, to about a second; `None` where that is not known.
    pub lag: Option<Duration>,
    /// Whether the request path reads from it.
    pub is_read: bool,
    /// Its connections of the request path.
    pub connections: Connections,
}
