//! A build without the feature `otel`: no collector can be named, so nothing is ever sent.

use std::fmt;
use std::sync::Arc;

use catalogue_core::observe::Observer;

use super::SpanCounts;
use crate::exit::Failure;

/// There is none.
#[derive(Clone, Debug)]
pub(crate) enum Endpoint {}

impl Endpoint {
    pub(crate) fn parse(_: &str) -> Result<Self, String> {
        Err("this build has no OpenTelemetry; leave the collector out, or build with the feature otel".to_owned())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

/// There is none.
pub(crate) enum Exporter {}

impl Exporter {
    pub(crate) fn start(endpoint: &Endpoint, _: f64, _: &str, _: bool) -> Result<Self, Failure> {
        match *endpoint {}
    }

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
