//! OpenTelemetry spans of requests, sent to a collector by OTLP over HTTP.
//!
//! A request puts its span into a bounded queue, from which a thread of OpenTelemetry's SDK sends batches. So no
//! request waits for a collector, and only spans are lost while the collector is unreachable.

#[cfg(feature = "otel")]
mod endpoint;

#[cfg(feature = "otel")]
use crate::exit::Failure;

/// URL of a collector for spans.
#[cfg(feature = "otel")]
pub(crate) use http::Uri as Endpoint;
#[cfg(feature = "otel")]
pub(crate) use {
    catalogue_observers::otlp::{SpanCounts, SpanExport},
    endpoint::parse as parse_endpoint,
};

/// Placeholder: a build without OpenTelemetry has no collector.
#[cfg(not(feature = "otel"))]
pub(crate) use std::convert::Infallible as Endpoint;

#[cfg(not(feature = "otel"))]
pub(crate) fn parse_endpoint(_: &str) -> Result<Endpoint, String> {
    Err("this build lacks OpenTelemetry; build with the feature otel, or remove the collector".to_owned())
}

/// Starts exporting spans for a share of the requests. URLs in spans begin with `base_url`, and with `https` if `secured`.
///
/// # Errors
/// Returns a failure if the system's CA certificates, which authenticate a collector, cannot be read.
#[cfg(feature = "otel")]
pub(crate) fn start((endpoint, ratio): &(Endpoint, f64), base_url: &str, secured: bool) -> Result<SpanExport, Failure> {
    let is_https = endpoint.scheme() == Some(&http::uri::Scheme::HTTPS);
    let client = catalogue_issuer::client(is_https, "the collector of spans")?;
    Ok(SpanExport::start(endpoint.clone(), *ratio, catalogue_observers::otlp::Site { base_url, secured }, client))
}

/// Parses a sampling ratio such as `0.1`.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ratio = text.parse().ok().filter(|ratio| plain && (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| format!("invalid sampling ratio {text:?}; use a number from 0 to 1, like 0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_accepts_numbers_from_0_to_1() {
        for (text, share) in [("0", 0.0), ("1", 1.0), ("0.25", 0.25), (".5", 0.5), ("1.0", 1.0)] {
            assert_eq!(ratio(text), Ok(share), "{text}");
        }
        for text in ["", ".", "-0", "-0.1", "1.1", "10%", "1e-3", "NaN", "inf", "half"] {
            assert!(ratio(text).unwrap_err().contains("from 0 to 1"), "{text}");
        }
    }
}
