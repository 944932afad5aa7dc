//! A span of each request for OpenTelemetry, sent to a collector by OTLP over HTTP.
//!
//! A request puts its span into a queue that is bounded; a thread of OpenTelemetry's makes batches of what is there. So no
//! request waits for a collector, and one that is away costs spans at most.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod collector;
#[cfg(feature = "otel")]
mod endpoint;
#[cfg(feature = "otel")]
mod exporter;
#[cfg(feature = "otel")]
mod span;

use std::sync::atomic::AtomicU64;

#[cfg(not(feature = "otel"))]
pub(crate) use absent::{Endpoint, Exporter};
#[cfg(feature = "otel")]
pub(crate) use endpoint::Endpoint;
#[cfg(feature = "otel")]
pub(crate) use exporter::Exporter;

/// What became of spans, since the start.
#[derive(Debug, Default)]
pub(crate) struct SpanCounts {
    /// A collector took them.
    pub(crate) exported: AtomicU64,
    /// There was no room for them, or no collector took them.
    pub(crate) dropped: AtomicU64,
}

/// Which spans are to be sent, and where to.
#[derive(Clone, Debug)]
pub(crate) struct SpanExport {
    pub(crate) endpoint: Endpoint,
    /// The share of requests that get a span.
    pub(crate) ratio: f64,
}

/// Reads a share such as `0.1`.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ratio = text.parse().ok().filter(|ratio| plain && (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| format!("{text:?} is no share; write a number from 0 to 1, like 0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_from_0_to_1() {
        for (text, share) in [("0", 0.0), ("1", 1.0), ("0.25", 0.25), (".5", 0.5), ("1.0", 1.0)] {
            assert_eq!(ratio(text), Ok(share), "{text}");
        }
        for text in ["", ".", "-0", "-0.1", "1.1", "10%", "1e-3", "NaN", "inf", "half"] {
            assert!(ratio(text).unwrap_err().contains("from 0 to 1"), "{text}");
        }
    }
}
