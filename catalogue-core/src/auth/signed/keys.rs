//! [`Keys`]: an issuer's key set, and when it is fetched (decisions O24 to O26).

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::FetchKeys;
use super::flight::Flight;
use super::key_set::{KeySet, PassedOver};
use crate::chain::chain;
use crate::in_flight::InFlight;
use crate::storage::StorageError;
use crate::sync::Mutex;

/// How old the set becomes before it is fetched again.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// How long a set is used after it was fetched.
const USABLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long after a fetch for an unknown `kid`, or one that failed, requests cause no other.
const PAUSE: Duration = Duration::from_secs(10);
/// After failures the pause before the next try is doubled, from the first to the last.
const RETRY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// How much later than it said a task may come again before requests fetch in its place.
const GRACE: Duration = Duration::from_secs(30);
/// Maximum number of requests that wait for a fetch.
const MAX_WAITING: usize = 64;

/// The key set of one issuer.
pub(super) struct Keys {
    issuer: String,
    flight: Flight,
    waiting: InFlight,
    state: Mutex<State>,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Debug, Default)]
struct State {
    /// The last set, and when the fetch began that brought it.
    set: Option<(Instant, Arc<KeySet>)>,
    /// When the last fetch failed, and why; `None` after one that succeeded.
    failed: Option<(Instant, String)>,
    /// How many in a row.
    failures: u32,
    /// When the last fetch for an unknown `kid` began, and whether it succeeded.
    unknown: Option<(Instant, bool)>,
    /// From then on a request fetches before it goes on: where no task does, or one that did comes no more.
    due: Option<Instant>,
    fetches: [u64; 2],
}

/// Why the set is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The host's task wants it.
    Task,
    /// It is old, and no task has come.
    Due,
    /// There is none that can be used.
    Nothing,
    /// A token names a key that is not in it.
    UnknownKid,
}

/// What came of a fetch.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) cause: Cause,
    /// When the fetch began, or was found to be needless.
    pub(super) at: Instant,
    /// `None` where it failed.
    pub(super) set: Option<Arc<KeySet>>,
}

/// Why nobody can tell now whether a token is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unavailable {
    #[error("cannot be fetched now; the log says why")]
    NotFetched,
    #[error("are being fetched, and {MAX_WAITING} requests wait for them")]
    Crowded,
}

/// How the set stands.
pub(super) struct Standing {
    /// The last set that was fetched, also where it is too old to be used, and its age.
    pub(super) last: Option<(Arc<KeySet>, Duration)>,
    /// Fetches that succeeded, and that failed.
    pub(super) fetches: [u64; 2],
}

impl Keys {
    pub(super) fn new(
        issuer: &str,
        source: impl FetchKeys,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Self {
        let (issuer, clock) = (issuer.to_owned(), Box::new(clock));
        Self {
            issuer,
            flight: Flight::new(source),
            waiting: InFlight::new(MAX_WAITING),
            state: Mutex::default(),
            clock,
        }
    }

    /// The set in use. It is fetched first where there is none, or where it is old and no task fetches it.
    pub(super) async fn current(&self) -> Result<Arc<KeySet>, Unavailable> {
        match self.usable() {
            (Some(set), false) => Ok(set),
            (Some(set), true) => Ok(self.wait(Cause::Due).await.ok().and_then(|fetched| fetched.set).unwrap_or(set)),
            (None, _) => self.wait(Cause::Nothing).await?.set.ok_or(Unavailable::NotFetched),
        }
    }

    /// The set that a token with that `kid` is verified with: where it has no such key, it is fetched once more.
    pub(super) async fn with(&self, kid: Option<&str>) -> Result<Arc<KeySet>, Unavailable> {
        let set = self.current().await?;
        let Some(kid) = kid.filter(|kid| !set.knows(kid)) else { return Ok(set) };
        self.once_more(|set| set.knows(kid)).await
    }

    /// The set, fetched once more for a key that `knows` does not find in the one in use.
    pub(super) async fn once_more(&self, knows: impl Fn(&KeySet) -> bool) -> Result<Arc<KeySet>, Unavailable> {
        // A fetch for something else that was under way may have begun before the key was published: then once more.
        let fetched = self.wait(Cause::UnknownKid).await?;
        let set = fetched.set.ok_or(Unavailable::NotFetched)?;
        if fetched.cause == Cause::UnknownKid || knows(&set) {
            return Ok(set);
        }
        self.wait(Cause::UnknownKid).await?.set.ok_or(Unavailable::NotFetched)
    }

    /// Fetches the set now, and says how long the task shall wait until it comes again.
    pub(super) async fn refresh(&self) -> Duration {
        let called = (self.clock)();
        let mut fetched = self.fetch(Cause::Task).await;
        // One that was under way may show what was published before.
        if fetched.at < called {
            fetched = self.fetch(Cause::Task).await;
        }
        let mut state = self.state();
        let pause = match fetched.set {
            // Not all servers at the same time.
            Some(_) => FRESH * 9 / 10 + Duration::from_secs(u64::from(getrandom::u32().unwrap_or(30) % 61)),
            None => RETRY[1].min(RETRY[0] * (1 << (state.failures.clamp(1, 5) - 1))),
        };
        // Never sooner than before: where this is called beside the task, that sleeps on.
        state.due = state.due.max((self.clock)().checked_add(pause + GRACE));
        pause
    }

    pub(super) fn standing(&self) -> Standing {
        let (now, state) = ((self.clock)(), self.state());
        let last = state.set.as_ref().map(|(at, set)| (Arc::clone(set), now.saturating_duration_since(*at)));
        Standing { last, fetches: state.fetches }
    }

    pub(super) fn last_failure(&self) -> Option<String> {
        self.state().failed.as_ref().map(|(_, why)| why.clone())
    }

    /// The set in use, and whether it is due.
    fn usable(&self) -> (Option<Arc<KeySet>>, bool) {
        let (now, state) = ((self.clock)(), self.state());
        let set = state.set.as_ref().filter(|(at, _)| now.saturating_duration_since(*at) <= USABLE);
        (set.map(|(_, set)| Arc::clone(set)), state.due.is_some_and(|due| due <= now))
    }

    /// Like [`fetch`](Self::fetch), for a request: at most [`MAX_WAITING`] wait, since each holds a connection.
    async fn wait(&self, cause: Cause) -> Result<Fetched, Unavailable> {
        if let Some(fetched) = self.settled(cause) {
            return Ok(fetched);
        }
        let _permit = self.waiting.enter().ok_or(Unavailable::Crowded)?;
        Ok(self.fetch(cause).await)
    }

    /// Fetches the set for that cause, or waits for the fetch under way.
    async fn fetch(&self, cause: Cause) -> Fetched {
        if let Some(fetched) = self.settled(cause) {
            return fetched;
        }
        let end = |cause, at, answer| self.end(cause, at, answer);
        self.flight.join(cause, &self.clock, || self.settled(cause), end).await
    }

    /// What is known without a fetch for that cause; `None` where one is needed.
    fn settled(&self, cause: Cause) -> Option<Fetched> {
        let now = (self.clock)();
        let is_recent = |at: Instant| now.saturating_duration_since(at) < PAUSE;
        let (set, is_due) = self.usable();
        let state = self.state();
        let set = match cause {
            Cause::Task => return None,
            Cause::Due => Some(set.filter(|_| !is_due)?),
            Cause::Nothing if set.is_none() => state.failed.as_ref().filter(|(at, _)| is_recent(*at)).map(|_| None)?,
            Cause::Nothing => set,
            Cause::UnknownKid => {
                let (_, succeeded) = state.unknown.filter(|(at, _)| is_recent(*at))?;
                set.filter(|_| succeeded)
            }
        };
        Some(Fetched { cause, at: now, set })
    }

    /// Notes what came of a fetch.
    fn end(&self, cause: Cause, at: Instant, answer: Result<Bytes, StorageError>) -> Fetched {
        let read = answer.map_err(|error| chain(&error)).and_then(|json| {
            let set = KeySet::parse(&json);
            set.map(Arc::new).map_err(|error| error.to_string())
        });
        let now = (self.clock)();
        let mut state = self.state();
        if cause == Cause::UnknownKid {
            state.unknown = Some((at, read.is_ok()));
        }
        state.fetches[usize::from(read.is_err())] += 1;
        let issuer = &*self.issuer;
        match &read {
            Ok(set) => {
                if state.failures > 0 {
                    tracing::info!(issuer, "the issuer's keys are fetched again");
                }
                tell_changes(issuer, state.set.as_ref().map(|(_, set)| &**set), set);
                (state.set, state.failed, state.failures) = (Some((at, Arc::clone(set))), None, 0);
                state.due = state.due.max(at.checked_add(FRESH));
            }
            Err(error) => {
                if state.failures == 0 {
                    let goes_on = state.set.is_some();
                    tracing::warn!(issuer, error, goes_on, "the issuer's keys cannot be fetched; it is tried again");
                }
                (state.failed, state.failures) = (Some((now, error.clone())), state.failures.saturating_add(1));
                state.due = state.due.max(now.checked_add(PAUSE));
            }
        }
        Fetched { cause, at, set: read.ok() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs which keys came and went, by their names, which are an issuer's texts.
fn tell_changes(issuer: &str, old: Option<&KeySet>, new: &KeySet) {
    let (came, went) = (new.kids_without(old), old.map(|old| old.kids_without(Some(new))).unwrap_or_default());
    if !came.is_empty() || !went.is_empty() {
        tracing::info!(issuer, usable = new.usable, ?came, ?went, "the issuer's keys have changed");
    }
    let is_new = |key| !old.is_some_and(|old| old.passed_over.contains(key));
    for (kid, _) in new.passed_over.iter().filter(|key| key.1 == PassedOver::Private && is_new(*key)) {
        tracing::warn!(
            issuer,
            ?kid,
            "the issuer's key set shows a private key, which is not used; it must be replaced"
        );
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.issuer).field("flight", &self.flight).finish_non_exhaustive()
    }
}
