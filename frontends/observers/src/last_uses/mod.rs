//! Last uses of credentials: recorded in memory by each request, written to the storage by a task.
//!
//! With SQLite a commit invalidates the cached lookups of all accounts, so all uses are written together, once a minute.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, mem};

use catalogue_core::admin::{AdminStorage, CredentialUse};
use catalogue_core::observe::{FinishedRequest, Observer};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// Time between two writes.
const INTERVAL: Duration = Duration::from_secs(60);
/// Timeout for the last write.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of credentials recorded between two writes; they use about 10 MiB.
const MAX_CREDENTIALS: usize = 50_000;

/// Observer that records the uses since the last write.
#[derive(Debug, Default)]
struct LastUses(Mutex<PendingUses>);

#[derive(Debug, Default)]
struct PendingUses {
    /// Keyed by the credential's id.
    uses: HashMap<Arc<str>, CredentialUse>,
    /// Number of unrecorded uses: those by credentials beyond [`MAX_CREDENTIALS`].
    missed: u64,
}

impl LastUses {
    /// Records a use. Allocates nothing for a credential that is already recorded.
    fn record(&self, id: &Arc<str>, account: &AccountId, at: Timestamp) {
        let mut pending = self.lock();
        if let Some(last) = pending.uses.get_mut(id) {
            last.at = at.max(last.at);
        } else if pending.uses.len() < MAX_CREDENTIALS {
            let (account, credential_id) = (account.clone(), Arc::clone(id));
            pending.uses.insert(Arc::clone(id), CredentialUse { account, credential_id, at });
        } else {
            pending.missed += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, PendingUses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for LastUses {
    fn finished(&self, request: &FinishedRequest<'_>) {
        if let Some(caller) = request.caller.filter(|caller| caller.issued.is_none()) {
            self.record(&caller.credential_id, &caller.account, Timestamp::now());
        }
    }
}

/// Recorder of the uses of credentials, which it writes to a storage until [`finish`](Self::finish).
pub struct Recorder {
    uses: Arc<LastUses>,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Recorder {
    /// Starts to write uses to `storage`, on Tokio's blocking threads, because a storage may block its thread.
    ///
    /// # Panics
    /// Panics outside a Tokio runtime.
    #[must_use]
    pub fn start(storage: Arc<dyn AdminStorage>) -> Self {
        let uses = Arc::<LastUses>::default();
        let mut writer = Writer { storage, uses: Arc::clone(&uses), is_failing: false };
        let (end, mut ended) = oneshot::channel();
        let task = tokio::spawn(async move {
            while timeout(INTERVAL, &mut ended).await.is_err() {
                writer.write().await;
            }
            writer.write().await;
        });
        Self { uses, end, task }
    }

    /// Returns the catalogue's observer.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.uses.clone()
    }

    /// Writes the remaining uses. Waits at most 5 s for the storage.
    pub async fn finish(self) {
        drop(self.end);
        match timeout(FINAL_WRITE_TIMEOUT, self.task).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the last use of credentials was not recorded"),
            Err(_) => tracing::warn!("the last use of credentials may not be recorded: the storage is too slow"),
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
    /// Whether the last write failed. Only the first of consecutive failures is logged.
    is_failing: bool,
}

impl Writer {
    async fn write(&mut self) {
        let PendingUses { uses, missed } = mem::take(&mut *self.uses.lock());
        if missed > 0 {
            tracing::warn!(uses = missed, "too many credentials were used: the last use of some was not recorded");
        }
        if uses.is_empty() {
            return;
        }
        let uses: Arc<[CredentialUse]> = uses.into_values().collect();
        match write(Arc::clone(&self.storage), Arc::clone(&uses)).await {
            Ok(()) => {
                if mem::take(&mut self.is_failing) {
                    tracing::info!("recording the last use of credentials works again");
                }
            }
            Err(error) => {
                for CredentialUse { credential_id, account, at } in &*uses {
                    self.uses.record(credential_id, account, *at);
                }
                if !mem::replace(&mut self.is_failing, true) {
                    let error: &(dyn Error + 'static) = &error;
                    tracing::warn!(error, "cannot record the last use of credentials; requests are not affected");
                }
            }
        }
    }
}

async fn write(storage: Arc<dyn AdminStorage>, uses: Arc<[CredentialUse]>) -> Result<(), StorageError> {
    let runtime = Handle::current();
    let written = spawn_blocking(move || runtime.block_on(storage.record_uses(&uses))).await;
    written.unwrap_or_else(|panicked| {
        Err(StorageError::new(StorageErrorKind::OutcomeUnknown, "the storage panicked").with_source(panicked))
    })
}

#[cfg(all(test, unix))]
mod tests;
