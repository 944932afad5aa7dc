//! How many connections and outstanding HTTP/2 streams there are, and which connections are closed when there are too many.

mod limiter;
mod priority;
mod registry;
mod shedding;
mod streams;

use std::time::Duration;

pub(crate) use limiter::{ConnectionLimiter, LAST_TURN, Permit};
pub(crate) use priority::{Priority, Stage};
pub(crate) use registry::Registry;
pub(crate) use shedding::shed_streams;
pub(crate) use streams::OutstandingStreams;

/// From one look at all connections to the next; also what any response may wait for its window.
const PAUSE: Duration = Duration::from_millis(50);
