//! [`Spans`]: makes the span of each finished request.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use catalogue_core::{FinishedRequest, Observer};

use super::queue::Queue;
use super::sampler::Sampler;
use super::span::{self, Site};

/// Puts the span of each request that gets one into a queue.
#[derive(Debug)]
pub(super) struct Spans {
    pub(super) sampler: Sampler,
    pub(super) site: Site,
    pub(super) queue: Arc<Queue>,
}

impl Observer for Spans {
    fn finished(&self, request: &FinishedRequest<'_>) {
        if let Some(place) = self.sampler.place(request.trace) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.queue.push(&span::encode(request, place, &self.site, now));
        }
    }
}
