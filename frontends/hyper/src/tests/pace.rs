//! Tests in which a client must act within a short time.

use std::panic::{panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::support::SHORT_TIMEOUT;

/// Base times of the attempts. The longest test waits for 12 times as long, which must be less than `TEST_TIMEOUT`.
const PACES: [Duration; 3] = [SHORT_TIMEOUT, SHORT_TIMEOUT.saturating_mul(6), SHORT_TIMEOUT.saturating_mul(24)];

const TOO_EARLY: &str = "it ended too early, which a slow machine does not explain";

/// Runs a test in which a client must act within a short time. If it fails and this machine was measurably too slow for
/// that, runs it again with longer times.
pub(super) async fn at_any_pace<F>(test: impl Fn(Duration) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    at_paces(PACES, test).await;
}

async fn at_paces<F>([first, second, last]: [Duration; 3], test: impl Fn(Duration) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for time in [first, second] {
        let (mut attempt, mut overran) = (tokio::spawn(test(time)), false);
        let outcome = loop {
            let since = Instant::now();
            let outcome = timeout(time / 8, &mut attempt).await;
            overran |= since.elapsed() > time / 4;
            if let Ok(outcome) = outcome {
                break outcome;
            }
        };
        let Err(error) = outcome else { return };
        let panic = error.into_panic();
        if !overran || panic.downcast_ref() == Some(&TOO_EARLY) {
            resume_unwind(panic);
        }
    }
    test(last).await;
}

/// Asserts that `time` has passed. If it has not, the test is not run again.
pub(super) fn assert_lasted(since: Instant, time: Duration) {
    if since.elapsed() < time {
        panic_any(TOO_EARLY);
    }
}

/// Returns how often a test runs that blocks its thread for a moment and then fails, at paces of `time`.
async fn count_runs(time: Duration, fail: fn()) -> usize {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let test = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            thread::sleep(Duration::from_millis(2));
            fail();
        }
    };
    assert!(tokio::spawn(at_paces([time; 3], test)).await.unwrap_err().is_panic());
    runs.load(Ordering::SeqCst)
}

#[tokio::test]
async fn test_is_retried_only_when_machine_is_slow() {
    let (slow, fast) = (Duration::from_millis(4), Duration::from_secs(3_600));
    let fails = || panic!("deliberate panic");
    assert_eq!(count_runs(slow, fails).await, 3);
    assert_eq!(count_runs(fast, fails).await, 1);
    assert_eq!(count_runs(slow, || assert_lasted(Instant::now(), Duration::MAX)).await, 1);
}
