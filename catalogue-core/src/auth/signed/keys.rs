//! [`Keys`]: an issuer's key set, and when it is fetched (decisions O24 to O26).

use std::fmt;
use std::mem::replace;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{FutureExt as _, Shared};

use super::FetchKeys;
use super::key_set::{KeySet, SkipReason};
use crate::chain::chain;
use crate::in_flight::InFlight;
use crate::panic_guard::catch_panic;
use crate::storage::{StorageError, StorageErrorKind};

/// Age at which the set is fetched again.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Maximum age of a set that is used.
const MAX_STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum time between the beginnings of two fetches for requests.
const MIN_REFETCH_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum and maximum delay after a failed refresh; the delay doubles with each further failure.
const BACKOFF: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// How late a task's next refresh may be before requests fetch the set themselves.
const TASK_GRACE: Duration = Duration::from_secs(30);
/// Maximum number of requests that wait for a fetch.
const MAX_WAITING: usize = 64;

/// A fetch for requests. All waiters poll the same one, so a client that disconnects does not restart it.
type Fetch = Shared<Pin<Box<dyn Future<Output = bool> + Send>>>;

pub(super) struct Keys {
    issuer: String,
    source: Arc<dyn FetchKeys>,
    waiting: InFlight,
    state: Mutex<State>,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// The last set, and when its fetch began.
    set: Option<(Instant, Arc<KeySet>)>,
    /// When and why the last fetch failed; `None` after a success.
    failed: Option<(Instant, String)>,
    failures: u32,
    /// The last fetch for requests, and when it began. Its result is reused until [`MIN_REFETCH_INTERVAL`] has passed.
    last_fetch: Option<(Instant, Fetch)>,
    /// When requests begin to fetch the set themselves, because no task has refreshed it.
    due: Option<Instant>,
    has_warned: bool,
    /// Without the age, which is computed when it is read.
    status: KeysStatus,
}

/// Status of an issuer's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeysStatus {
    /// Number of usable keys in the last set.
    pub usable: usize,
    /// Time since the last set was fetched; `None` before the first one. A set is not used after 24 hours.
    pub age: Option<Duration>,
    /// Number of successful fetches.
    pub fetched: u64,
    /// Number of failed fetches.
    pub failed: u64,
}

impl Keys {
    pub(super) fn new(
        issuer: &str,
        source: impl FetchKeys,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Self {
        let (issuer, clock) = (issuer.to_owned(), Box::new(clock));
        Self { issuer, source: Arc::new(source), waiting: InFlight::new(MAX_WAITING), state: Mutex::default(), clock }
    }

    /// Returns the set to verify a token with `kid`, and fetches it first if no usable set has a key with this `kid`. Also
    /// fetches the set if no task refreshes it in time; if that fetch fails, returns the old set.
    pub(super) async fn key_set_for(self: &Arc<Self>, kid: Option<&str>) -> Result<Arc<KeySet>, StorageError> {
        let (set, is_due) = self.usable();
        match set.filter(|set| kid.is_none_or(|kid| set.has_kid(kid))) {
            Some(set) if is_due => Ok(self.fetch_for_request().await.unwrap_or(set)),
            Some(set) => Ok(set),
            None => self.fetch_for_request().await,
        }
    }

    /// Returns the set after a fetch that all waiting requests share. Starts at most one fetch in ten seconds, and reuses
    /// the result of the last one in between.
    pub(super) async fn fetch_for_request(self: &Arc<Self>) -> Result<Arc<KeySet>, StorageError> {
        let not_fetched = || self.unavailable("cannot be fetched now; see the log");
        let fetch = self.begin_or_join().ok_or_else(not_fetched)?;
        let has_succeeded = match fetch.peek() {
            Some(has_succeeded) => *has_succeeded,
            None => {
                // Limited, because each waiting request holds a connection.
                let crowded = || {
                    self.unavailable(&format!("are being fetched, and {MAX_WAITING} requests already wait for them"))
                };
                let _permit = self.waiting.enter().ok_or_else(crowded)?;
                fetch.await
            }
        };
        self.usable().0.filter(|_| has_succeeded).ok_or_else(not_fetched)
    }

    fn unavailable(&self, why: &str) -> StorageError {
        StorageError::new(StorageErrorKind::Unavailable, format!("the keys of {} {why}", self.issuer))
    }

    /// Returns the fetch to wait for; `None` if the task's fetch, or an older one, has failed within [`MIN_REFETCH_INTERVAL`].
    fn begin_or_join(self: &Arc<Self>) -> Option<Fetch> {
        let now = (self.clock)();
        let is_recent = |at: &Instant| now.saturating_duration_since(*at) < MIN_REFETCH_INTERVAL;
        let mut state = self.state();
        if let Some((_, fetch)) = state.last_fetch.as_ref().filter(|(began, _)| is_recent(began)) {
            return Some(fetch.clone());
        }
        if state.failed.as_ref().is_some_and(|(at, _)| is_recent(at)) {
            return None;
        }
        if state.due.is_some_and(|due| due <= now) && !replace(&mut state.has_warned, true) {
            tracing::warn!(
                issuer = self.issuer,
                "no task fetches the issuer's keys, so requests wait for them; spawn a task that calls SignedTokens::refresh"
            );
        }
        let fetch: Pin<Box<dyn Future<Output = bool> + Send>> = Box::pin(self.fetch(now));
        let fetch = fetch.shared();
        state.last_fetch = Some((now, fetch.clone()));
        Some(fetch)
    }

    /// Fetches the set now, and returns how long the task should wait before its next call.
    pub(super) async fn refresh(self: &Arc<Self>) -> Duration {
        let has_succeeded = self.fetch((self.clock)()).await;
        let mut state = self.state();
        let delay = if has_succeeded {
            // Jitter, so that servers do not all fetch at the same time.
            REFRESH_INTERVAL * 9 / 10 + Duration::from_secs(u64::from(getrandom::u32().unwrap_or(30) % 61))
        } else {
            BACKOFF[1].min(BACKOFF[0] * (1 << (state.failures.clamp(1, 5) - 1)))
        };
        // Keep a later `due`: a call from elsewhere does not wake the task, which sleeps for the longer delay.
        state.due = state.due.max((self.clock)().checked_add(delay + TASK_GRACE));
        delay
    }

    /// Fetches and records the set, and returns whether that succeeded. An unfinished fetch does not keep `self` alive.
    fn fetch(self: &Arc<Self>, began: Instant) -> impl Future<Output = bool> + Send + use<> {
        let (keys, source) = (Arc::downgrade(self), Arc::clone(&self.source));
        async move {
            let fetched = catch_panic(pin!(source.fetch())).await;
            let parsed = fetched.and_then(|fetched| fetched.map_err(|error| chain(&error)));
            let parsed = parsed.and_then(|json| KeySet::parse(&json));
            let has_succeeded = parsed.is_ok();
            if let Some(keys) = keys.upgrade() {
                keys.record(began, parsed.map(Arc::new));
            }
            has_succeeded
        }
    }

    pub(super) fn status(&self) -> KeysStatus {
        let (now, state) = ((self.clock)(), self.state());
        let age = state.set.as_ref().map(|(at, _)| now.saturating_duration_since(*at));
        KeysStatus { age, ..state.status }
    }

    /// Returns the keys of the last set that are not used, each with its `kid` and the reason.
    pub(super) fn skipped_keys(&self) -> Vec<String> {
        self.state().set.as_ref().map(|(_, set)| set.describe_skipped()).unwrap_or_default()
    }

    pub(super) fn last_failure(&self) -> Option<String> {
        self.state().failed.as_ref().map(|(_, why)| why.clone())
    }

    /// Returns the set unless it is too old, and whether requests must fetch it themselves.
    fn usable(&self) -> (Option<Arc<KeySet>>, bool) {
        let (now, state) = ((self.clock)(), self.state());
        let set = state.set.as_ref().filter(|(at, _)| now.saturating_duration_since(*at) <= MAX_STALE);
        (set.map(|(_, set)| Arc::clone(set)), state.due.is_some_and(|due| due <= now))
    }

    /// Records the result of a fetch. A set does not replace one whose fetch began later.
    fn record(&self, began: Instant, parsed: Result<Arc<KeySet>, String>) {
        let mut state = self.state();
        let issuer = &*self.issuer;
        match parsed {
            Ok(set) => {
                state.status.fetched += 1;
                if state.failures > 0 {
                    tracing::info!(issuer, "fetching the issuer's keys works again");
                }
                (state.failed, state.failures) = (None, 0);
                if state.set.as_ref().is_none_or(|(at, _)| *at <= began) {
                    log_changes(issuer, state.set.as_ref().map(|(_, set)| &**set), &set);
                    state.status.usable = set.usable;
                    state.set = Some((began, set));
                    state.due = state.due.max(began.checked_add(REFRESH_INTERVAL));
                }
            }
            Err(error) => {
                state.status.failed += 1;
                if state.failures == 0 {
                    let has_keys = state.set.is_some();
                    tracing::warn!(issuer, error, has_keys, "cannot fetch the issuer's keys; retrying");
                }
                (state.failed, state.failures) = (Some(((self.clock)(), error)), state.failures.saturating_add(1));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs the `kid` of each key that was added or removed, and warns of each private key that is new in the set.
fn log_changes(issuer: &str, old: Option<&KeySet>, new: &KeySet) {
    let (added, removed) = (new.kids_without(old), old.map(|old| old.kids_without(Some(new))).unwrap_or_default());
    if !added.is_empty() || !removed.is_empty() {
        tracing::info!(issuer, usable = new.usable, ?added, ?removed, "the issuer's keys have changed");
    }
    let is_new = |key| !old.is_some_and(|old| old.skipped.contains(key));
    for (kid, _) in new.skipped.iter().filter(|key| key.1 == SkipReason::Private && is_new(*key)) {
        tracing::warn!(issuer, ?kid, "the issuer's key set exposes a private key, which is ignored; rotate this key");
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.issuer).field("source", &self.source).finish_non_exhaustive()
    }
}
