//! What stands for the export of spans in a build without OpenTelemetry, which has none.

/// There is no collector.
pub(crate) use std::convert::Infallible as Endpoint;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use catalogue_core::observe::Observer;

/// What metrics would tell.
#[derive(Debug)]
pub(crate) struct SpanCounts {
    pub(crate) exported: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// What nobody can start.
pub(crate) enum SpanExport {}

impl SpanExport {
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        match *self {}
    }

    pub(crate) fn counts(&self) -> Arc<SpanCounts> {
        match *self {}
    }

    pub(crate) async fn finish(self) {
        match self {}
    }
}

pub(crate) fn parse_endpoint(_: &str) -> Result<Endpoint, String> {
    Err("this build has no OpenTelemetry; leave the collector out, or build with the feature otel".to_owned())
}
