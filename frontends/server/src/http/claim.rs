//! [`Claim`]: what speaks for a connection where another one needs its place.

use tokio::time::Instant;

/// How a connection stands, and for how long: of two claims the lesser one costs a good client less to give up.
///
/// There is none that gives way while its request is with the service, and none whose client takes the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) standing: Standing,
    pub(super) since: Instant,
}

/// What a connection is at that can give way, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Our side is closed. It lingers, so that the last answer arrives.
    Closed,
    /// Nothing was asked for since the accept: the client is silent, shakes hands, or is slow with its first head.
    Untried,
    /// The answer is out, and of the request's body, which nobody wants, more is to come.
    Answered,
    /// The client keeps the server waiting, with its next request, the rest of a head, or for an answer to be taken. One
    /// that is slow gives way before one that was idle for a shorter time.
    Waiting,
}

impl Claim {
    /// Whether this is `seen`, or older than that.
    pub(super) fn is_still(self, seen: Self) -> bool {
        self.standing == seen.standing && self.since <= seen.since
    }
}
