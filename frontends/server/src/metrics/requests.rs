//! [`RequestMetrics`]: what is counted of each request.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use catalogue_core::Operation;
use catalogue_core::auth::Refusal;
use catalogue_core::observe::{ExceededLimit, FinishedRequest, Observer};
use catalogue_core::storage::{StorageError, StorageErrorKind};

use super::exposition::Exposition;
use crate::per_thread::PerThread;

/// What is no operation: the documents, unknown paths, `OPTIONS` of them.
const OTHER: &str = "other";
/// How many operations can be told apart at most, with the one that stands for all else.
const OPERATIONS: usize = 16;

/// The statuses that the catalogue answers with; any other is counted with the last.
const STATUSES: [&str; 12] = ["200", "204", "304", "400", "401", "403", "404", "405", "429", "500", "503", "other"];

/// The upper bounds of the buckets, in microseconds, and as they are written: a kept answer takes a few, a rendered one
/// some tens, and one of a database that hardly answers seconds.
const BOUNDS: [(u64, &str); 16] = [
    (25, "0.000025"),
    (50, "0.00005"),
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (5_000_000, "5"),
];

const CHECKS: [&str; 6] = ["accepted", "missing", "invalid", "expired", "revoked", "failed"];
const LIMITS: [&str; 3] = ["in_flight", "credential", "client_address"];
const STORAGE_ERRORS: [&str; 3] = ["unavailable", "corrupt", "other"];

/// Counts each finished request. Every thread has numbers of its own, as long as there are not many, so that none waits
/// for another's cache line; they are added up when somebody asks.
#[derive(Default)]
pub(crate) struct RequestMetrics(PerThread<Shard>);

#[derive(Default)]
struct Shard {
    operations: [OperationCounts; OPERATIONS],
    checks: [AtomicU64; CHECKS.len()],
    limits: [AtomicU64; LIMITS.len()],
    storage_errors: [AtomicU64; STORAGE_ERRORS.len()],
}

#[derive(Default)]
struct OperationCounts {
    statuses: [AtomicU64; STATUSES.len()],
    /// The last one has no bound.
    durations: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Observer for RequestMetrics {
    fn finished(&self, request: &FinishedRequest<'_>) {
        let shard = self.0.own();
        let operation = &shard.operations[request.operation.map_or(0, place)];
        add(&operation.statuses[status(request.status.as_u16())], 1);
        let micros = u64::try_from(request.duration.as_micros()).unwrap_or(u64::MAX);
        add(&operation.durations[BOUNDS.partition_point(|(bound, _)| *bound < micros)], 1);
        add(&operation.nanoseconds, u64::try_from(request.duration.as_nanos()).unwrap_or(u64::MAX));
        if let Some(check) = check(request) {
            add(&shard.checks[check], 1);
        }
        if let Some(limit) = request.exceeded.and_then(limit) {
            add(&shard.limits[limit], 1);
        }
        if let Some(error) = request.failure.and_then(|failure| storage_error(failure)) {
            add(&shard.storage_errors[error], 1);
        }
    }
}

impl RequestMetrics {
    fn sum(&self, number: impl Fn(&Shard) -> &AtomicU64) -> u64 {
        self.0.all().map(|shard| number(shard).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    /// Writes them. What has never happened for an operation is left out, but for 200.
    pub(super) fn render(&self, out: &mut Exposition) {
        let operations =
            || [OTHER].into_iter().chain(Operation::ALL.iter().map(|operation| operation.id())).enumerate();
        let mut requests =
            out.counter("catalogue_http_requests_total", "Requests that were answered, by operation and status.");
        for (at, operation) in operations() {
            for (index, status) in STATUSES.iter().enumerate() {
                let count = self.sum(|shard| &shard.operations[at].statuses[index]);
                if count > 0 || *status == "200" {
                    requests.labelled(&[("operation", operation), ("status", status)], count);
                }
            }
        }
        let mut durations = out.histogram(
            "catalogue_http_request_duration_seconds",
            "Time from the request's head to the finished answer, without sending it.",
        );
        for (at, operation) in operations() {
            let bounds = BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"]).enumerate();
            let count = |index: usize| self.sum(|shard| &shard.operations[at].durations[index]);
            let buckets: Vec<_> = bounds.map(|(index, bound)| (bound, count(index))).collect();
            let nanoseconds = self.sum(|shard| &shard.operations[at].nanoseconds);
            durations.buckets(("operation", operation), &buckets, nanoseconds as f64 / 1e9);
        }
        let mut checks = out.counter(
            "catalogue_credential_checks_total",
            "Requests whose credential was asked for, by what was found.",
        );
        for (at, outcome) in CHECKS.iter().enumerate() {
            checks.labelled(&[("outcome", outcome)], self.sum(|shard| &shard.checks[at]));
        }
        let mut limits = out.counter("catalogue_limits_exceeded_total", "Requests that were answered 429, by limit.");
        for (at, limit) in LIMITS.iter().enumerate() {
            limits.labelled(&[("limit", limit)], self.sum(|shard| &shard.limits[at]));
        }
        let mut errors = out.counter(
            "catalogue_storage_errors_total",
            "Requests that were answered 500, as the storage failed, by kind.",
        );
        for (at, kind) in STORAGE_ERRORS.iter().enumerate() {
            errors.labelled(&[("kind", kind)], self.sum(|shard| &shard.storage_errors[at]));
        }
    }
}

impl fmt::Debug for RequestMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestMetrics")
    }
}

fn add(number: &AtomicU64, value: u64) {
    number.fetch_add(value, Ordering::Relaxed);
}

/// Where an operation's numbers stand: behind those of what is none, in the order of [`Operation::ALL`].
fn place(operation: Operation) -> usize {
    Operation::ALL.iter().position(|one| *one == operation).map_or(0, |at| at + 1)
}

fn status(status: u16) -> usize {
    match status {
        200 => 0,
        204 => 1,
        304 => 2,
        400 => 3,
        401 => 4,
        403 => 5,
        404 => 6,
        405 => 7,
        429 => 8,
        500 => 9,
        503 => 10,
        _ => STATUSES.len() - 1,
    }
}

/// Where in [`CHECKS`] what was found of the credential stands; `None` where it was not asked for.
fn check(request: &FinishedRequest<'_>) -> Option<usize> {
    match (request.caller, request.refusal) {
        (Some(_), _) => Some(0),
        (None, Some(refusal)) => match refusal {
            Refusal::Missing => Some(1),
            Refusal::Expired => Some(3),
            Refusal::Revoked => Some(4),
            _ => Some(2),
        },
        (None, None) => request.failure.map(|_| 5),
    }
}

fn limit(limit: ExceededLimit) -> Option<usize> {
    match limit {
        ExceededLimit::InFlight => Some(0),
        ExceededLimit::Credential => Some(1),
        ExceededLimit::ClientAddress => Some(2),
        _ => None,
    }
}

fn storage_error(failure: &(dyn Error + 'static)) -> Option<usize> {
    Some(match failure.downcast_ref::<StorageError>()?.kind() {
        StorageErrorKind::Unavailable => 0,
        StorageErrorKind::Corrupt => 1,
        _ => 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_place() {
        assert!(Operation::ALL.len() < OPERATIONS);
        let places: Vec<_> = Operation::ALL.iter().map(|operation| place(*operation)).collect();
        assert_eq!(places, (1..=Operation::ALL.len()).collect::<Vec<_>>());
    }

    #[test]
    fn every_status_has_its_name() {
        for code in 100..1_000_u16 {
            let name = STATUSES[status(code)];
            assert!(name == code.to_string() || (name == "other" && !STATUSES.contains(&&*code.to_string())), "{code}");
        }
    }

    #[test]
    fn bounds_rise_and_are_written_in_seconds() {
        assert!(BOUNDS.is_sorted());
        for (micros, seconds) in BOUNDS {
            assert_eq!(seconds.parse(), Ok(micros as f64 / 1e6));
        }
    }
}
