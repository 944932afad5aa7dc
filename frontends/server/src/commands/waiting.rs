//! Opens the database to serve; with `--wait`, waits for one that is unreachable.

use std::time::{Duration, Instant};

use super::signals::Signals;
use crate::database::{Database, Migration, Storage};
use crate::exit::Failure;

/// Delay between attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval between log entries while waiting.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// Returns the delay before the next attempt, or `None` if the wait is over.
fn next_pause(wait: Duration, waited: Duration) -> Option<Duration> {
    wait.checked_sub(waited).map(|rest| rest.min(PAUSE)).filter(|rest| !rest.is_zero())
}

/// Opens the database to serve. Returns `None` if a signal comes first.
pub(super) async fn open(
    database: &Database,
    migration: Migration,
    wait: Option<Duration>,
    signals: &mut Signals,
) -> Result<Option<Storage>, Failure> {
    tokio::select! {
        opened = open_patiently(database, migration, wait) => opened.map(|storage| Some(storage.served())),
        _ = signals.next() => {
            tracing::info!(%database, "stopped before the database was open");
            Ok(None)
        }
    }
}

async fn open_patiently(database: &Database, migration: Migration, wait: Option<Duration>) -> Result<Storage, Failure> {
    let began = Instant::now();
    let mut noted: Option<Instant> = None;
    loop {
        let unopened = match database.open_for(migration).await {
            Ok(storage) => {
                if noted.is_some() {
                    tracing::info!(%database, waited = ?began.elapsed(), "the database is there");
                }
                return Ok(storage);
            }
            Err(unopened) => unopened,
        };
        let pause = wait.filter(|_| unopened.can_pass).and_then(|wait| next_pause(wait, began.elapsed()));
        let Some(pause) = pause else { return Err(unopened.failure) };
        if noted.is_none_or(|noted| noted.elapsed() >= NOTED_EVERY) {
            tracing::warn!("waiting for the database: {}", unopened.failure.message());
            noted = Some(Instant::now());
        }
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pause_ends_with_the_wait() {
        let wait = Duration::from_millis(2_500);
        let pauses = [0, 2_000, 2_500, 3_000].map(|waited| next_pause(wait, Duration::from_millis(waited)));
        assert_eq!(pauses, [Some(PAUSE), Some(Duration::from_millis(500)), None, None]);
        assert_eq!(next_pause(Duration::MAX, Duration::from_secs(1 << 40)), Some(PAUSE));
    }
}
