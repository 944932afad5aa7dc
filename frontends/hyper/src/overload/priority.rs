//! [`Priority`]: which of two connections is evicted first.

use tokio::time::Instant;

/// What a connection is doing, and since when: the least is evicted first, as that costs a good client least. One whose
/// request is with the service has none, nor has one whose client takes its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Priority {
    pub(crate) stage: Stage,
    pub(crate) since: Instant,
}

/// What a connection is doing that can be evicted, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Our side is closed, and lingers so that the last response arrives.
    Closed,
    /// No request has come since the accept: the client is silent, shakes hands, or is slow with its first head.
    Unused,
    /// The rest of a request's body is to come: the service waits for it, or the response is out and nobody wants it.
    Body,
    /// The server waits for the next request, the rest of a head, or for a response to be taken.
    Waiting,
}
