//! A span of each request for OpenTelemetry, sent to a collector by OTLP over HTTP.
//!
//! A request writes its span, encoded, into a queue that is bounded; a task sends what waits there. So no request waits for
//! a collector, and one that is away costs spans at most.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod collector;
#[cfg(feature = "otel")]
mod endpoint;
#[cfg(feature = "otel")]
mod exporter;
#[cfg(feature = "otel")]
mod observer;
#[cfg(feature = "otel")]
mod protobuf;
#[cfg(feature = "otel")]
mod queue;
#[cfg(feature = "otel")]
mod sampler;
#[cfg(feature = "otel")]
mod span;
#[cfg(feature = "otel")]
mod tls;

use std::sync::atomic::AtomicU64;

use crate::config::{Layers, Setting};
use crate::exit::Failure;

#[cfg(not(feature = "otel"))]
use absent::Endpoint;
#[cfg(not(feature = "otel"))]
pub(crate) use absent::Exporter;
#[cfg(feature = "otel")]
use endpoint::Endpoint;
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

/// Where spans are to be sent, if anywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanExport(Option<Wanted>);

#[derive(Clone, Debug)]
struct Wanted {
    endpoint: Endpoint,
    /// The share of requests that get a span.
    ratio: f64,
}

impl SpanExport {
    /// What the layers say.
    pub(crate) fn named(layers: &Layers, endpoint: Option<String>, sample: Option<String>) -> Result<Self, Failure> {
        let endpoint = layers.text(Setting::OtlpEndpoint, endpoint)?;
        let sample = layers.text(Setting::OtlpSample, sample)?;
        // First, so that it is told where there is no endpoint either.
        let share = sample.clone().map(|text| text.parse(|text| ratio(text))).transpose()?;
        let Some(endpoint) = endpoint else {
            let idle = "there is no --otlp-endpoint to send spans to; name one, like http://127.0.0.1:4318";
            return sample.map_or(Ok(Self::default()), |sample| Err(sample.wrong(&idle)));
        };
        let endpoint = endpoint.parse(|text| Endpoint::parse(text))?;
        Ok(Self(Some(Wanted { endpoint, ratio: share.unwrap_or(1.0) })))
    }

    /// Begins to send spans of what is served at `base_url`, over TLS if `secured`; nothing where none are wanted. To be
    /// called in a runtime.
    ///
    /// # Errors
    ///
    /// The system's certificates, which a collector is checked by, cannot be read.
    pub(crate) fn start(&self, base_url: &str, secured: bool) -> Result<Option<Exporter>, Failure> {
        let start = |wanted: &Wanted| Exporter::start(&wanted.endpoint, wanted.ratio, base_url, secured);
        self.0.as_ref().map(start).transpose()
    }

    /// Where spans go, for the log.
    pub(crate) fn shown(&self) -> Option<String> {
        self.0.as_ref().map(|wanted| wanted.endpoint.to_string())
    }
}

/// Reads a share such as `0.1`.
fn ratio(text: &str) -> Result<f64, String> {
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
