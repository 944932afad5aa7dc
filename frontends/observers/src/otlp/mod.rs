//! A span of each sampled request for OpenTelemetry, sent to a collector by OTLP over HTTP.

mod collector;
mod export;
mod span;

pub use export::{Site, SpanCounts, SpanExport};
