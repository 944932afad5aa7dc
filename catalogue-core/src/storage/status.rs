//! [`StorageStatus`]: what operators want to know of a storage's servers.

use std::time::Duration;

use super::StorageError;

/// The state of the server that a storage writes to, and of the replicas that are read in its place.
#[derive(Debug, Default)]
pub struct StorageStatus {
    /// Why the server does not answer, or answers without being the primary; `None` where it answers as the primary.
    pub error: Option<StorageError>,
    /// Its connections of the request path.
    pub connections: Connections,
    /// In the order in which they were named.
    pub replicas: Vec<ReplicaStatus>,
    /// Whether accounts are on several servers. One of them may then be away while requests of other accounts are answered.
    pub is_spread: bool,
    /// What an operator has to mend, though requests are answered: a sentence each.
    pub faults: Vec<String>,
}

/// The state of a replica.
#[derive(Clone, Debug, Default)]
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

/// The connections to one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// How many there may be.
    pub at_most: usize,
    /// How many read now.
    pub in_use: usize,
    /// How many are open and wait for a read.
    pub idle: usize,
    /// How many reads wait for one.
    pub waiting: usize,
    /// How many reads have failed because their time was up, since the start.
    pub timeouts: usize,
}
