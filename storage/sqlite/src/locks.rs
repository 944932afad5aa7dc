//! [`Locks`]: how long a read waits for a lock of another program, without its thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
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
/// What counts at most of the time between two attempts. Where more went by, the whole program stood still, as with its machine,
/// and so perhaps did the one that holds the lock.
const MOST_COUNTED: Duration = Duration::from_millis(32);

/// The lock that reads meet now, shared by all of a storage: of many calls only the first ones wait for long.
#[derive(Default)]
pub(crate) struct Locks(Mutex<Met>);

#[derive(Default)]
struct Met {
    last: Option<Instant>,
    /// How long there was a lock, as far as attempts tell; the clock of those who wait.
    locked: Duration,
    /// When the present one was met first, by that clock.
    first: Option<Duration>,
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
        let mut locked = self.meet(Instant::now());
        let until = self.until(longest);
        let mut pause = FIRST_PAUSE;
        loop {
            Delay::new(pause.min(until - locked)).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            let outcome = attempt();
            if !outcome.as_ref().is_err_and(is_locked) {
                self.met().first = None;
                return outcome;
            }
            locked = self.meet(Instant::now());
            if locked >= until {
                return outcome;
            }
        }
    }

    /// Notes that a lock was met, and says how long there was one so far.
    fn meet(&self, now: Instant) -> Duration {
        let mut met = self.met();
        let pause = met.last.map(|last| now.saturating_duration_since(last));
        met.locked += pause.unwrap_or_default().min(MOST_COUNTED);
        met.last = Some(now);
        if pause.is_none_or(|pause| pause > GAP) || met.first.is_none() {
            met.first = Some(met.locked);
        }
        met.locked
    }

    /// Until when a call waits that has just met the lock for the first time.
    fn until(&self, longest: Duration) -> Duration {
        let met = self.met();
        (met.first.unwrap_or(met.locked) + longest).max(met.locked + LEAST_WAIT)
    }

    fn met(&self) -> MutexGuard<'_, Met> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::storage_error;

    const LONGEST: Duration = Duration::from_millis(500);

    /// How long a call waits that begins at `now`, if it is locked all along.
    fn waits(locks: &Locks, mut now: Instant) -> Duration {
        let began = locks.meet(now);
        let until = locks.until(LONGEST);
        let mut locked = began;
        while locked < until {
            now += LONGEST_PAUSE.min(until - locked);
            locked = locks.meet(now);
        }
        locked - began
    }

    #[test]
    fn the_first_calls_wait_for_a_lock_and_later_ones_hardly() {
        let (locks, began) = (Locks::default(), Instant::now());
        assert_eq!(waits(&locks, began), LONGEST);
        assert_eq!(waits(&locks, began + LONGEST), LEAST_WAIT);
        let locks = Locks::default();
        locks.meet(began);
        let soon = began + LONGEST_PAUSE;
        assert_eq!(waits(&locks, soon), LONGEST - LONGEST_PAUSE);
    }

    #[test]
    fn another_lock_is_waited_for_anew() {
        let (locks, began) = (Locks::default(), Instant::now());
        waits(&locks, began);
        locks.met().first = None;
        let ended = began + LONGEST;
        assert_eq!(waits(&locks, ended), LONGEST);
        assert_eq!(waits(&locks, ended + LONGEST + 2 * GAP), LONGEST);
    }

    fn locked() -> Result<(), StorageError> {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        Err(storage_error(rusqlite::Error::SqliteFailure(code, None)))
    }

    #[tokio::test]
    async fn time_in_which_the_program_stood_still_is_no_wait() {
        let mut attempts = 0;
        let attempt = || {
            attempts += 1;
            match attempts {
                2 => std::thread::sleep(LONGEST),
                5 => return Ok(()),
                _ => (),
            }
            locked()
        };
        assert!(Locks::default().wait_out(LONGEST, attempt).await.is_ok());
    }

    #[test]
    fn a_request_waits_a_second_at_most() {
        assert!(CREDENTIAL_WAIT + 2 * COURSES_WAIT <= Duration::from_secs(1));
        assert!(LEAST_WAIT <= COURSES_WAIT && GAP > MOST_COUNTED && MOST_COUNTED >= 2 * LONGEST_PAUSE);
    }
}
