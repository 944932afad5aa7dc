//! [`Flight`]: one fetch for all who wait for it.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::FetchKeys;
use super::keys::{Cause, Fetched};
use crate::panic_guard::catch_panic;
use crate::storage::{StorageError, StorageErrorKind};
use crate::sync::{Cache, Mutex};

/// Older fetches that somebody began and nobody finished are begun anew.
const MAX_AGE: Duration = Duration::from_secs(10);

type Answer = Result<Bytes, StorageError>;

/// One fetch at a time. Those who come meanwhile wait for its end and share what came of it. Where whoever polls it goes
/// away, another goes on with the same fetch: who begins requests and drops them causes no more fetches.
pub(super) struct Flight {
    source: Arc<dyn FetchKeys>,
    /// Never holds anything: it makes those who come wait.
    waiting: Cache<(), Fetched>,
    left: Mutex<Option<Begun>>,
}

/// A fetch that was begun.
struct Begun {
    at: Instant,
    cause: Cause,
    answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
}

/// Puts a fetch back that is dropped before its end.
struct Polled<'f> {
    flight: &'f Flight,
    begun: Option<Begun>,
}

impl Flight {
    pub(super) fn new(source: impl FetchKeys) -> Self {
        Self { source: Arc::new(source), waiting: Cache::new(1), left: Mutex::default() }
    }

    /// Waits for the fetch that is under way, or else begins one, unless `settled` says that there is no need. `end` makes
    /// of its answer what all are told; it is given when and why the fetch was begun.
    pub(super) async fn join(
        &self,
        cause: Cause,
        now: impl Fn() -> Instant,
        settled: impl FnOnce() -> Option<Fetched>,
        end: impl FnOnce(Cause, Instant, Answer) -> Fetched,
    ) -> Fetched {
        let guard = match self.waiting.get_value_or_guard_async(&()).await {
            Ok(fetched) => return fetched,
            Err(guard) => guard,
        };
        // While this one waited for the guard, another fetch may have ended.
        if let Some(fetched) = settled() {
            return fetched;
        }
        let began = now();
        let left = self.take_left().filter(|left| began.saturating_duration_since(left.at) < MAX_AGE);
        let begun = left.unwrap_or_else(|| Begun { at: began, cause, answer: self.begin() });
        let (at, cause) = (begun.at, begun.cause);
        let answer = Polled { flight: self, begun: Some(begun) }.finish().await;
        let fetched = end(cause, at, answer);
        // Without an entry it reaches those who wait, and is not kept.
        self.waiting.remove(&());
        let _ = guard.insert(fetched.clone());
        fetched
    }

    fn begin(&self) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        let source = Arc::clone(&self.source);
        Box::pin(async move {
            let panicked = |panicked| {
                Err(StorageError::new(StorageErrorKind::Other, "the fetch of the keys failed").with_source(panicked))
            };
            catch_panic(pin!(source.fetch())).await.unwrap_or_else(panicked)
        })
    }

    fn take_left(&self) -> Option<Begun> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Polled<'_> {
    async fn finish(mut self) -> Answer {
        let begun = self.begun.as_mut().expect("it is taken at the end");
        let answer = begun.answer.as_mut().await;
        self.begun = None;
        answer
    }
}

impl Drop for Polled<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            *self.flight.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        }
    }
}

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flight").field("source", &self.source).finish_non_exhaustive()
    }
}
