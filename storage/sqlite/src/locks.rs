//! [`Locks`]: how long a read waits for a lock of another program, without its thread.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use catalogue_core::storage::StorageError;
use futures_timer::Delay;

use crate::error::is_locked;

/// How long the look-up of a credential waits. With it and two calls for courses a request waits a second at most.
pub(crate) const CREDENTIAL_WAIT: Duration = Duration::from_millis(600);
/// How long a call for an account's courses or revision waits.
pub(crate) const COURSES_WAIT: Duration = Duration::from_millis(200);
/// How long a call of administration waits.
pub(crate) const ADMINISTRATION_WAIT: Duration = Duration::from_secs(5);

/// How long a call waits for a lock that has lasted longer than that.
const LEAST_WAIT: Duration = Duration::from_millis(100);
/// A lock that nobody has met for so long is over.
const GAP: Duration = Duration::from_millis(50);
/// The pauses between attempts double, from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(16);
/// How many attempts a call makes at least. They fit into the least wait, but where the whole program has stood still meanwhile:
/// a time in which nobody could give the lock back is no wait for it.
const LEAST_ATTEMPTS: u32 = 8;

/// The lock that reads meet now, shared by all of a storage: of many calls only the first ones wait for long.
#[derive(Default)]
pub(crate) struct Locks(Mutex<Option<Lock>>);

struct Lock {
    met_first: Instant,
    met_last: Instant,
}

impl Locks {
    /// Makes attempts, none of which waits, until one does not meet a lock, or the lock has lasted for `longest`.
    pub(crate) async fn wait_out<T>(
        &self,
        longest: Duration,
        mut attempt: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let outcome = attempt();
        if !outcome.as_ref().is_err_and(is_locked) {
            return outcome;
        }
        drop(outcome);
        // Boxed, so that a call that meets no lock has no room for this.
        Box::pin(self.try_again(longest, attempt)).await
    }

    async fn try_again<T>(
        &self,
        longest: Duration,
        mut attempt: impl FnMut() -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut now = Instant::now();
        let until = self.meet(now, longest);
        let (mut pause, mut attempts) = (FIRST_PAUSE, 0);
        loop {
            let rest = until.saturating_duration_since(now);
            Delay::new(if rest.is_zero() { pause } else { pause.min(rest) }).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            let outcome = attempt();
            if !outcome.as_ref().is_err_and(is_locked) {
                self.end();
                return outcome;
            }
            (now, attempts) = (Instant::now(), attempts + 1);
            self.meet(now, longest);
            if now >= until && attempts >= LEAST_ATTEMPTS {
                return outcome;
            }
        }
    }

    /// Notes that a lock was met, and says until when a call that meets it for the first time waits.
    fn meet(&self, now: Instant, longest: Duration) -> Instant {
        let mut lock = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock.as_ref().filter(|lock| now.saturating_duration_since(lock.met_last) <= GAP);
        let met_first = known.map_or(now, |lock| lock.met_first);
        *lock = Some(Lock { met_first, met_last: now });
        (met_first + longest).max(now + LEAST_WAIT)
    }

    fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::storage_error;

    const LONGEST: Duration = Duration::from_millis(500);

    /// When a call that begins at `began` gives up, if it is locked all along.
    fn gives_up(locks: &Locks, began: Instant) -> Instant {
        let (mut now, until) = (began, locks.meet(began, LONGEST));
        while now < until {
            now = until.min(now + LONGEST_PAUSE);
            locks.meet(now, LONGEST);
        }
        until
    }

    #[test]
    fn the_first_calls_wait_for_a_lock_and_later_ones_hardly() {
        let (locks, began) = (Locks::default(), Instant::now());
        let half = began + LONGEST / 2;
        assert_eq!(locks.meet(half, LONGEST), half + LONGEST);
        let ended = gives_up(&locks, half + LONGEST_PAUSE);
        assert_eq!(ended, half + LONGEST);
        assert_eq!(gives_up(&locks, ended), ended + LEAST_WAIT);
    }

    #[test]
    fn another_lock_is_waited_for_anew() {
        let (locks, began) = (Locks::default(), Instant::now());
        let ended = gives_up(&locks, began);
        locks.end();
        assert_eq!(gives_up(&locks, ended), ended + LONGEST);
        let later = ended + LONGEST + 2 * GAP;
        assert_eq!(gives_up(&locks, later), later + LONGEST);
    }

    fn locked() -> Result<(), StorageError> {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        Err(storage_error(rusqlite::Error::SqliteFailure(code, None)))
    }

    #[tokio::test]
    async fn a_program_that_stood_still_has_its_attempts_all_the_same() {
        let mut attempts = 0;
        let attempt = || {
            attempts += 1;
            match attempts {
                // Stands still, as with its machine.
                2 => std::thread::sleep(LONGEST),
                5 => return Ok(()),
                _ => (),
            }
            locked()
        };
        assert!(Locks::default().wait_out(LONGEST, attempt).await.is_ok());
    }

    #[test]
    fn the_least_attempts_fit_into_the_least_wait() {
        let pauses = std::iter::successors(Some(FIRST_PAUSE), |pause| Some(LONGEST_PAUSE.min(*pause * 2)));
        assert!(pauses.take(LEAST_ATTEMPTS as usize).sum::<Duration>() < LEAST_WAIT);
    }

    #[test]
    fn a_request_waits_a_second_at_most() {
        assert!(CREDENTIAL_WAIT + 2 * COURSES_WAIT <= Duration::from_secs(1));
        assert!(LEAST_WAIT <= COURSES_WAIT && GAP > 2 * LONGEST_PAUSE);
    }
}
