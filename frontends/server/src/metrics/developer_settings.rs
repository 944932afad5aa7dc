//! [`SettingsCounts`]: the requests of the developer settings. They are few, so that a map under a lock does.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use catalogue_prometheus::Exposition;

use crate::developer_settings::FinishedRequest;

/// How many there were, by action and status.
#[derive(Debug, Default)]
pub(crate) struct SettingsCounts(Mutex<BTreeMap<(&'static str, u16), u64>>);

impl SettingsCounts {
    pub(crate) fn count(&self, request: &FinishedRequest<'_>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((request.action, request.response.status().as_u16())).or_default() += 1;
    }

    /// Writes them. What has never happened is left out.
    pub(super) fn render(&self, out: &mut Exposition) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !counts.is_empty() {
            let help = "Requests of the developer settings that were answered, by action and status.";
            let mut requests = out.metric("catalogue_settings_requests_total", help);
            for ((action, status), count) in &*counts {
                requests.value(&[("action", action), ("status", &status.to_string())], count);
            }
        }
    }
}
