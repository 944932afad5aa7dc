//! Opening the database that is to be served, and `--wait` for one that is out of reach.

use std::time::{Duration, Instant};

use super::serving::Signals;
use crate::config::{Layers, Setting};
use crate::database::{Database, Migration, Storage};
use crate::duration;
use crate::exit::Failure;

/// How long is waited between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the log says that the database is still waited for.
const NOTED_EVERY: Duration = Duration::from_secs(60);

/// How long a database that is out of reach is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    AsLongAsItTakes,
    UpTo(Duration),
}

impl Wait {
    /// How long to pause before the next attempt; `None` where it is not worth one.
    fn pause(self, waited: Duration) -> Option<Duration> {
        match self {
            Self::AsLongAsItTakes => Some(PAUSE),
            Self::UpTo(limit) => limit.checked_sub(waited).map(|rest| rest.min(PAUSE)).filter(|rest| !rest.is_zero()),
        }
    }
}

/// What the layers say of `--wait`.
pub(super) fn wait(layers: &Layers, given: Option<String>) -> Result<Option<Wait>, Failure> {
    let said = layers.text(Setting::Wait, given)?;
    Ok(said.map(|text| text.parse(|text| parse(text))).transpose()?.flatten())
}

fn parse(text: &str) -> Result<Option<Wait>, String> {
    match text {
        "true" | "1" => Ok(Some(Wait::AsLongAsItTakes)),
        "false" | "0" => Ok(None),
        _ => duration::parse(text).map(|limit| Some(Wait::UpTo(limit))),
    }
}

/// Opens the database to be served; `None` when a signal comes first.
pub(super) async fn open(
    database: &Database,
    migration: Migration,
    wait: Option<Wait>,
    signals: &mut Signals,
) -> Result<Option<Storage>, Failure> {
    tokio::select! {
        opened = open_patiently(database, migration, wait) => opened.map(Some),
        () = signals.next() => {
            tracing::info!(%database, "stopped before the database was open");
            Ok(None)
        }
    }
}

async fn open_patiently(database: &Database, migration: Migration, wait: Option<Wait>) -> Result<Storage, Failure> {
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
        let pause = wait.filter(|_| unopened.can_pass).and_then(|wait| wait.pause(began.elapsed()));
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
    fn true_false_or_how_long() {
        for (text, wait) in [
            ("true", Some(Wait::AsLongAsItTakes)),
            ("1", Some(Wait::AsLongAsItTakes)),
            ("false", None),
            ("0", None),
            ("2m", Some(Wait::UpTo(Duration::from_secs(120)))),
        ] {
            assert_eq!(parse(text), Ok(wait), "{text}");
        }
        assert!(parse("yes").unwrap_err().contains("not a duration"));
    }

    #[test]
    fn the_last_pause_ends_with_the_wait() {
        let wait = Wait::UpTo(Duration::from_millis(2_500));
        let pauses = [0, 2_000, 2_500, 3_000].map(|waited| wait.pause(Duration::from_millis(waited)));
        assert_eq!(pauses, [Some(PAUSE), Some(Duration::from_millis(500)), None, None]);
        assert_eq!(Wait::AsLongAsItTakes.pause(Duration::MAX), Some(PAUSE));
    }
}
