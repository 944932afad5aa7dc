//! [`SettingsCounts`]: counts requests of the developer settings. Such requests are rare, so a map under a lock suffices.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use catalogue_observers::prometheus::Exposition;
use catalogue_settings::RequestLabels;
use http::StatusCode;

/// Statuses of the developer settings. Each starts at 0 for each action: Prometheus sees no increase in the first value
/// of a new series.
const STATUSES: [u16; 14] = [200, 201, 204, 303, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500];

/// Number of requests by action and status.
#[derive(Debug, Default)]
pub(crate) struct SettingsCounts(Mutex<BTreeMap<(&'static str, u16), u64>>);

impl SettingsCounts {
    /// Starts all counters at 0. Called only if there are developer settings.
    pub(crate) fn start(&self) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.extend(RequestLabels::actions().flat_map(|action| STATUSES.map(|status| ((action, status), 0))));
    }

    pub(crate) fn count(&self, action: &'static str, status: StatusCode) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((action, status.as_u16())).or_default() += 1;
    }

    /// Writes the counters; nothing without developer settings.
    pub(super) fn render(&self, out: &mut Exposition) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.is_empty() {
            let help = "Requests for the developer settings, by action and status.";
            let mut requests = out.metric("catalogue_settings_requests_total", help);
            for ((action, status), count) in &*counts {
                requests.value(&[("action", action), ("status", &status.to_string())], count);
            }
        }
    }
}
