//! [`Counts`]: counts of finished requests by operation and status, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use catalogue_core::observe::{FinishedRequest, Observer};

/// Number of finished requests. The labels have few values: neither paths nor accounts.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<BTreeMap<(&'static str, u16), u64>>);

impl Observer for Counts {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let operation = request.operation.map_or("none", |operation| operation.id());
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((operation, request.status.as_u16())).or_default() += 1;
    }
}

impl Counts {
    /// Renders the counts in the text format of Prometheus.
    pub(crate) fn render(&self) -> String {
        let mut text = "# TYPE catalogue_requests_total counter\n".to_owned();
        for ((operation, status), count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            writeln!(text, "catalogue_requests_total{{operation=\"{operation}\",status=\"{status}\"}} {count}")
                .expect("writing to a String cannot fail");
        }
        text
    }
}
