#![doc = include_str!("../README.md")]

mod exposition;
mod requests;

pub use exposition::{Exposition, MEDIA_TYPE, Metric};
pub use requests::RequestMetrics;
