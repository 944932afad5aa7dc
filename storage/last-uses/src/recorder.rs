//! When credentials were last used: noted by each request, written to the database by a task of its own.
//!
//! With SQLite a commit ends the cached look-ups of all accounts, so all uses are written together, once a minute.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, mem};

use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use foldhash::quality::RandomState;
use thread_local::ThreadLocal;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// How often uses are written.
const INTERVAL: Duration = Duration::from_secs(60);
/// How long the last writing may take.
const LAST_WRITE: Duration = Duration::from_secs(5);
/// How many credentials are noted between two writings, by each thread; some 2 MB. The log tells how many uses more came.
const MOST: usize = 10_000;

/// By the credential's id, which its owner does not choose.
type Uses = HashMap<Arc<str>, (AccountId, Timestamp), RandomState>;

/// The uses since the last writing.
#[derive(Debug, Default)]
struct LastUses {
    noted: ThreadLocal<Noted>,
    /// Uses that found no room since the last writing.
    missed: AtomicU64,
}

/// Those of a thread, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Noted(Mutex<Uses>);

impl LastUses {
    fn note(&self, id: &Arc<str>, account: &AccountId, at: Timestamp) {
        if !add(&mut locked(self.noted.get_or_default()), id, account, at, MOST) {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Moves what was noted to `uses`.
    fn drain_into(&self, uses: &mut Uses) {
        let most = MOST * self.noted.iter().count();
        for noted in &self.noted {
            let noted = mem::take(&mut *locked(noted));
            let missed = noted.iter().filter(|(id, (account, at))| !add(uses, id, account, *at, most)).count();
            self.missed.fetch_add(missed as u64, Ordering::Relaxed);
        }
    }
}

fn locked(Noted(uses): &Noted) -> MutexGuard<'_, Uses> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing is allocated for a credential that is there. Tells whether there was room.
fn add(uses: &mut Uses, id: &Arc<str>, account: &AccountId, at: Timestamp, most: usize) -> bool {
    if let Some((_, last)) = uses.get_mut(id) {
        *last = at.max(*last);
        return true;
    }
    let has_room = uses.len() < most;
    if has_room {
        uses.insert(Arc::clone(id), (account.clone(), at));
    }
    has_room
}

impl Observer for LastUses {
    fn finished(&self, request: &FinishedRequest<'_>) {
        if let Some(caller) = request.caller.filter(|caller| caller.issued.is_none()) {
            self.note(&caller.credential_id, &caller.account, Timestamp::now());
        }
    }
}

/// Notes the uses of credentials, and writes them to a storage until [`finish`](Self::finish).
pub struct Recorder {
    uses: Arc<LastUses>,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Recorder {
    /// Begins to write what is noted to `storage`. A storage may block its thread: it is asked on one that serves nobody.
    ///
    /// # Panics
    /// Outside a runtime of tokio.
    #[must_use]
    pub fn start(storage: Arc<dyn AdminStorage>) -> Self {
        let uses = Arc::new(LastUses::default());
        let mut writer = Writer { storage, uses: Arc::clone(&uses), waiting: Uses::default(), fails: false };
        let (end, mut ended) = oneshot::channel();
        let task = tokio::spawn(async move {
            while timeout(INTERVAL, &mut ended).await.is_err() {
                writer.write().await;
            }
            writer.write().await;
        });
        Self { uses, end, task }
    }

    /// To be told of each request.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.uses.clone()
    }

    /// Writes what is left, unless the database does not take it soon: a server that was told to end ends.
    pub async fn finish(self) {
        drop(self.end);
        match timeout(LAST_WRITE, self.task).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the last use of credentials was not recorded"),
            Err(_) => tracing::warn!("the last use of credentials may not be recorded: the database takes too long"),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

struct Writer {
    storage: Arc<dyn AdminStorage>,
    uses: Arc<LastUses>,
    /// What could not be written yet.
    waiting: Uses,
    /// Whether the last writing failed. That is logged once, and it is tried again each time.
    fails: bool,
}

impl Writer {
    async fn write(&mut self) {
        self.uses.drain_into(&mut self.waiting);
        let uses = self.uses.missed.swap(0, Ordering::Relaxed);
        if uses > 0 {
            tracing::warn!(uses, "too many credentials were used: the last use of some was not recorded");
        }
        if self.waiting.is_empty() {
            return;
        }
        let uses = self.waiting.iter().map(|(id, (account, at))| CredentialUse {
            account: account.clone(),
            credential_id: Arc::clone(id),
            at: *at,
        });
        match note(Arc::clone(&self.storage), uses.collect()).await {
            Ok(()) => {
                self.waiting.clear();
                if mem::take(&mut self.fails) {
                    tracing::info!("the last use of credentials is recorded again");
                }
            }
            Err(error) if !mem::replace(&mut self.fails, true) => {
                let error: &(dyn Error + 'static) = &error;
                tracing::warn!(error, "credentials' last use cannot be recorded; requests are answered all the same");
            }
            Err(_) => {}
        }
    }
}

/// A storage may block the thread as long as its database works, so this is done on one that serves nobody.
async fn note(storage: Arc<dyn AdminStorage>, uses: Vec<CredentialUse>) -> Result<(), StorageError> {
    let runtime = Handle::current();
    let noted = spawn_blocking(move || runtime.block_on(storage.note_uses(&uses))).await;
    noted.unwrap_or_else(|panicked| {
        Err(StorageError::new(StorageErrorKind::OutcomeUnknown, "the storage panicked").with_source(panicked))
    })
}

#[cfg(all(test, unix))]
#[path = "tests.rs"]
mod tests;
