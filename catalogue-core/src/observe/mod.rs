//! Observation of finished requests, for the host application's metrics and logs.

mod observer;
mod trace_parent;

pub use observer::{ExceededLimit, FinishedRequest, Observer};
pub use trace_parent::TraceParent;
