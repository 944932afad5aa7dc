//! [`RequestMetrics`]: counters of finished requests.

use std::error::Error;
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_core::Operation;
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{StorageError, StorageErrorKind};

use super::exposition::{Exposition, Metric};

/// Label of requests for documents and unknown paths, which have no operation, and of statuses not in [`STATUSES`].
const OTHER_LABEL: &str = "other";
/// Maximum number of operations that are distinguished, including [`OTHER_LABEL`].
const MAX_OPERATIONS: usize = 16;

/// Statuses that are counted separately. Any other is counted as [`OTHER_LABEL`].
const STATUSES: [u16; 12] = [200, 204, 303, 304, 400, 401, 403, 404, 405, 429, 500, 503];

/// Upper bounds of the buckets, in µs: a cached response takes a few µs, an uncached one some tens of µs.
const BOUNDS: [u64; 16] = [
    25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000,
];

const CHECKS: [&str; 6] = ["accepted", "missing", "invalid", "expired", "revoked", "failed"];
const LIMITS: [&str; 3] = ["in_flight", "credential", "client_address"];
const STORAGE_ERRORS: [&str; 4] = ["unavailable", "busy", "corrupt", "other"];

/// An observer that counts each finished request.
#[derive(Debug, Default)]
pub struct RequestMetrics {
    operations: [OperationCounts; MAX_OPERATIONS],
    checks: [AtomicU64; CHECKS.len()],
    limits: [AtomicU64; LIMITS.len()],
    storage_errors: [AtomicU64; STORAGE_ERRORS.len()],
}

#[derive(Debug, Default)]
struct OperationCounts {
    /// Counts in the order of [`STATUSES`]; the last is of all other statuses.
    statuses: [AtomicU64; STATUSES.len() + 1],
    /// Counts in the order of [`BOUNDS`]; the last is of all longer durations.
    durations: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Observer for RequestMetrics {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let operation = &self.operations[request.operation.map_or(0, operation_index)];
        add(&operation.statuses[status_index(request.status.as_u16())], 1);
        let micros = u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX);
        add(&operation.durations[BOUNDS.partition_point(|bound| *bound < micros)], 1);
        add(&operation.nanoseconds, u64::try_from(request.duration.as_nanos()).unwrap_or(u64::MAX));
        if let Some(check) = check_index(request) {
            add(&self.checks[check], 1);
        }
        if let Some(limit) = request.exceeded.and_then(|limit| position(&LIMITS, limit.name())) {
            add(&self.limits[limit], 1);
        }
        if let Some(error) = request.failure.and_then(|failure| storage_error_index(failure)) {
            add(&self.storage_errors[error], 1);
        }
    }
}

impl RequestMetrics {
    /// Writes all counters, even those that are 0: Prometheus sees no increase in the first value of a new series.
    pub fn render(&self, out: &mut Exposition) {
        let names = || iter::once(OTHER_LABEL).chain(Operation::ALL.iter().map(|operation| operation.id()));
        let operations = || names().zip(&self.operations);
        let help = "Completed requests, by operation and status.";
        let mut requests = out.metric("catalogue_http_requests_total", help);
        let statuses: Vec<_> = STATUSES.iter().map(u16::to_string).chain([OTHER_LABEL.to_owned()]).collect();
        for (operation, counts) in operations() {
            for (status, count) in statuses.iter().zip(&counts.statuses) {
                requests.value(&[("operation", operation), ("status", status)], count.load(Ordering::Relaxed));
            }
        }
        let help = "Time to respond, without reading the request and sending the response.";
        let mut durations = out.histogram("catalogue_http_request_duration_seconds", help);
        for (operation, counts) in operations() {
            let buckets = counts.durations.iter().map(|count| count.load(Ordering::Relaxed));
            let seconds = counts.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
            durations.buckets(("operation", operation), bounds().zip(buckets), seconds);
        }
        let help = "Credential checks, by outcome.";
        let checks = out.metric("catalogue_credential_checks_total", help);
        render_each(checks, "outcome", CHECKS, &self.checks);
        let limits = out.metric("catalogue_limits_exceeded_total", "Requests rejected with a 429, by limit.");
        render_each(limits, "limit", LIMITS, &self.limits);
        let help = "Storage errors, each of which caused a 500, by kind.";
        let errors = out.metric("catalogue_storage_errors_total", help);
        render_each(errors, "kind", STORAGE_ERRORS, &self.storage_errors);
    }
}

fn render_each<const N: usize>(mut metric: Metric<'_>, label: &str, names: [&str; N], counts: &[AtomicU64; N]) {
    for (name, count) in names.iter().zip(counts) {
        metric.value(&[(label, name)], count.load(Ordering::Relaxed));
    }
}

fn add(number: &AtomicU64, value: u64) {
    number.fetch_add(value, Ordering::Relaxed);
}

/// Returns the index of an operation's counters: after those of [`OTHER_LABEL`], in the order of [`Operation::ALL`].
fn operation_index(operation: Operation) -> usize {
    Operation::ALL.iter().position(|one| *one == operation).map_or(0, |at| at + 1)
}

/// Returns the bounds of all buckets, in seconds.
fn bounds() -> impl Iterator<Item = String> {
    BOUNDS.iter().map(|micros| (*micros as f64 / 1e6).to_string()).chain(["+Inf".to_owned()])
}

fn status_index(status: u16) -> usize {
    STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len())
}

fn position(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

/// Returns the index into [`CHECKS`], or `None` if no credential was checked.
fn check_index(request: &FinishedRequest<'_>) -> Option<usize> {
    match (request.caller, request.refusal) {
        (Some(_), _) => Some(0),
        // A later version of the core may have more reasons.
        (None, Some(refusal)) => position(&CHECKS, refusal.reason()).or_else(|| position(&CHECKS, "invalid")),
        (None, None) => request.failure.and_then(|_| position(&CHECKS, "failed")),
    }
}

fn storage_error_index(failure: &(dyn Error + 'static)) -> Option<usize> {
    Some(match failure.downcast_ref::<StorageError>()?.kind() {
        StorageErrorKind::Unavailable => 0,
        StorageErrorKind::Busy => 1,
        StorageErrorKind::Corrupt => 2,
        _ => 3,
    })
}

#[cfg(test)]
mod tests {
    use catalogue_core::auth::Refusal;
    use catalogue_core::observe::ExceededLimit;

    use super::*;

    #[test]
    fn every_operation_has_its_index() {
        assert!(Operation::ALL.len() < MAX_OPERATIONS);
        let indices: Vec<_> = Operation::ALL.iter().map(|operation| operation_index(*operation)).collect();
        assert_eq!(indices, (1..=Operation::ALL.len()).collect::<Vec<_>>());
    }

    #[test]
    fn every_status_and_refusal_is_counted() {
        for code in 100..1_000 {
            let index = status_index(code);
            assert!(
                STATUSES.get(index) == Some(&code) || (index == STATUSES.len() && !STATUSES.contains(&code)),
                "{code}"
            );
        }
        for refusal in [Refusal::Missing, Refusal::Invalid, Refusal::Expired, Refusal::Revoked] {
            assert!(position(&CHECKS, refusal.reason()).is_some(), "{refusal:?}");
        }
        for limit in [ExceededLimit::InFlight, ExceededLimit::Credential, ExceededLimit::ClientAddress] {
            assert!(position(&LIMITS, limit.name()).is_some(), "{limit:?}");
        }
    }

    #[test]
    fn bounds_increase_and_are_in_seconds() {
        assert!(BOUNDS.is_sorted());
        let written: Vec<_> = bounds().collect();
        assert_eq!(
            [&*written[0], &written[1], &written[11], &written[14], &written[15]],
            ["0.000025", "0.00005", "0.1", "1", "5"]
        );
        assert_eq!((written.len(), &*written[16]), (17, "+Inf"));
    }
}
