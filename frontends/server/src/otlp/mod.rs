//! A span of each request for OpenTelemetry, sent to a collector by OTLP over HTTP.
//!
//! A request puts its span into a queue that is bounded; a thread of OpenTelemetry's makes batches of what is there. So no
//! request waits for a collector, and one that is away costs spans at most.

#[cfg(feature = "otel")]
mod endpoint;

#[cfg(feature = "otel")]
use crate::exit::Failure;

/// Where a collector takes spans.
#[cfg(feature = "otel")]
pub(crate) use http::Uri as Endpoint;
#[cfg(feature = "otel")]
pub(crate) use {
    catalogue_observers::otlp::{SpanCounts, SpanExport},
    endpoint::parse as parse_endpoint,
};

/// No build without OpenTelemetry has one.
#[cfg(not(feature = "otel"))]
pub(crate) use std::convert::Infallible as Endpoint;

#[cfg(not(feature = "otel"))]
pub(crate) fn parse_endpoint(_: &str) -> Result<Endpoint, String> {
    Err("this build has no OpenTelemetry; leave the collector out, or build with the feature otel".to_owned())
}

/// Begins to send spans of that share of the requests that are served at `base_url`, over TLS if `secured`.
///
/// # Errors
/// The system's certificates, which a collector is checked by, cannot be read.
#[cfg(feature = "otel")]
pub(crate) fn start((endpoint, ratio): &(Endpoint, f64), base_url: &str, secured: bool) -> Result<SpanExport, Failure> {
    let is_https = endpoint.scheme() == Some(&http::uri::Scheme::HTTPS);
    let client = catalogue_issuer::client(is_https, "the collector of spans")?;
    Ok(SpanExport::start(endpoint.clone(), *ratio, catalogue_observers::otlp::Site { base_url, secured }, client))
}

/// Reads a share such as `0.1`.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ratio = text.parse().ok().filter(|ratio| plain && (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| format!("{text:?} is not a valid sampling ratio; write a number from 0 to 1, like 0.1"))
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
