//! Opens the database to serve; with `--wait`, waits for one that is unreachable.

use std::time::{Duration, Instant};

use super::signals::Signals;
use crate::database::{Database, Migration, Storage};
use crate::exit::Failure;

/// Delay between attempts.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Interval between log entries while waiting.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// Returns the delay before the next attempt, or `None` after `wait`.
fn next_delay(wait: Duration, waited: Duration) -> Option<Duration> {
    wait.checked_sub(waited).map(|rest| rest.min(RETRY_DELAY)).filter(|rest| !rest.is_zero())
}

/// Opens the database to serve. Returns `None` if a signal comes first.
pub(super) async fn open(
    database: &Database,
    migration: Migration,
    wait: Option<Duration>,
    signals: &mut Signals,
) -> Result<Option<Storage>, Failure> {
    tokio::select! {
        opened = open_retrying(database, migration, wait) => opened.map(|storage| Some(storage.for_serving())),
        _ = signals.next() => {
            tracing::info!(%database, "stopped before the database was open");
            Ok(None)
        }
    }
}

async fn open_retrying(database: &Database, migration: Migration, wait: Option<Duration>) -> Result<Storage, Failure> {
    let began = Instant::now();
    let mut last_logged: Option<Instant> = None;
    loop {
        let open_failure = match database.open_for(migration).await {
            Ok(storage) => {
                if last_logged.is_some() {
                    tracing::info!(%database, waited = ?began.elapsed(), "the database is available");
                }
                return Ok(storage);
            }
            Err(open_failure) => open_failure,
        };
        let delay = wait.filter(|_| open_failure.can_pass).and_then(|wait| next_delay(wait, began.elapsed()));
        let Some(delay) = delay else { return Err(open_failure.failure) };
        if last_logged.is_none_or(|last_logged| last_logged.elapsed() >= LOG_INTERVAL) {
            tracing::warn!("waiting for the database: {}", open_failure.failure.message());
            last_logged = Some(Instant::now());
        }
        tokio::time::sleep(delay).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_delay_ends_at_deadline() {
        let wait = Duration::from_millis(2_500);
        let delays = [0, 2_000, 2_500, 3_000].map(|waited| next_delay(wait, Duration::from_millis(waited)));
        assert_eq!(delays, [Some(RETRY_DELAY), Some(Duration::from_millis(500)), None, None]);
        assert_eq!(next_delay(Duration::MAX, Duration::from_secs(1 << 40)), Some(RETRY_DELAY));
    }
}
