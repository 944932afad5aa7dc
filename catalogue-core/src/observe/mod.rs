//! What a host is told of each finished request, for its metrics and logs.

mod observer;
mod trace_parent;

pub use observer::{ExceededLimit, FinishedRequest, Observer};
pub use trace_parent::TraceParent;
