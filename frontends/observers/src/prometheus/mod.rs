//! Request metrics, and the text format in which Prometheus reads them (version 0.0.4).

mod exposition;
mod requests;

pub use exposition::{Exposition, MEDIA_TYPE, Metric};
pub use requests::RequestMetrics;
