//! [`PageCache`]: answers that were rendered before, kept by what they depend on.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::error::ApiError;
use crate::panic_guard::catch_panic;
use crate::response::entity::Entity;
use crate::response::page_key::Key;
use crate::storage::{StorageError, StorageErrorKind};

/// How many bytes a page of fifty usually takes up, for the cache's first layout.
const USUAL_WEIGHT: usize = 16 << 10;

/// What an entry takes up beside its bytes, in bytes, measured with many small answers.
const OVERHEAD: usize = 256;

/// The cause in the log of who failed with another.
const WAITED_IN_VAIN: &str = "another request was reading the same answer and failed; its own line says why";

/// How often answers were found in the cache, and how many bytes the cached ones take up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCacheStatistics {
    /// Answers that were found, also where a token that was looked up afterwards was refused.
    pub hits: u64,
    /// Answers that were not found and had to be rendered. Where nothing can be cached, nothing is counted.
    pub misses: u64,
    /// Bytes that the cached answers take up at most, with their compressed forms and keys.
    pub bytes: u64,
}

/// Rendered answers, up to a number of bytes. None is stale: after a change nobody asks for the old revision again.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// `None` where nothing is kept.
    entries: Option<Cache<Key, Rendered, Bytes>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// What those who wait for an answer are told. Only an answer stays in the cache.
type Rendered = Result<Arc<Entity>, NothingToShare>;

/// Why those who waited for an answer have none.
#[derive(Clone, Copy, Debug)]
enum NothingToShare {
    /// It failed so, and so do those who waited: who tried again could wait for the same fault once more.
    Failed(StorageErrorKind),
    /// What came of it is for who asked alone; the others render on their own, all at the same time.
    NotKept,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Rendered> for Bytes {
    fn weight(&self, key: &Key, rendered: &Rendered) -> u64 {
        let body = rendered.as_ref().map_or(0, |entity| entity.weight());
        let bytes = key.weight() + body + OVERHEAD;
        // What the allocator adds to large ones is about an eighth.
        (bytes + bytes / 8) as u64
    }
}

impl PageCache {
    /// A cache of at most that many bytes; with 0 nothing is kept.
    pub(crate) fn new(bytes: usize) -> Self {
        let entries = (bytes > 0).then(|| Cache::with_weighter(bytes / USUAL_WEIGHT, bytes as u64, Bytes));
        Self { entries, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The kept answer, if there is one.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Entity>> {
        let entity = self.entries.as_ref()?.get(key)?.ok()?;
        Some(self.hit(entity))
    }

    /// The kept answer, or a new one. Others who ask for the same wait for the one who renders it, and fail with it; where
    /// that one goes away, one of them renders in its place.
    pub(crate) async fn get_or_render(
        &self,
        key: &Key,
        render: impl Future<Output = Result<Fresh, ApiError>>,
    ) -> Result<Arc<Entity>, ApiError> {
        let Some(entries) = &self.entries else {
            return render.await.map(|fresh| fresh.entity);
        };
        let guard = match entries.get_value_or_guard_async(key).await {
            Ok(Ok(entity)) => return Ok(self.hit(entity)),
            Ok(Err(NothingToShare::Failed(kind))) => return Err(StorageError::new(kind, WAITED_IN_VAIN).into()),
            Ok(Err(NothingToShare::NotKept)) => None,
            Err(guard) => Some(guard),
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let Some(guard) = guard else {
            return render.await.map(|fresh| fresh.entity);
        };
        // A panic is a failure, which those who wait would otherwise go through one after the other.
        let outcome =
            catch_panic(pin!(render)).await.unwrap_or_else(|panicked| Err(ApiError::Internal(panicked.into())));
        let rendered = match &outcome {
            Ok(fresh) if fresh.is_of_key => Ok(Arc::clone(&fresh.entity)),
            Err(ApiError::Internal(cause)) => {
                let kind = cause.downcast_ref().map_or(StorageErrorKind::Other, StorageError::kind);
                Err(NothingToShare::Failed(kind))
            }
            Ok(_) | Err(_) => Err(NothingToShare::NotKept),
        };
        if rendered.is_err() {
            // Without an entry it reaches those who wait, and is not kept.
            entries.remove(key);
        }
        // An answer may be too large to be kept.
        let _ = guard.insert(rendered);
        outcome.map(|fresh| fresh.entity)
    }

    fn hit(&self, entity: Arc<Entity>) -> Arc<Entity> {
        self.hits.fetch_add(1, Ordering::Relaxed);
        entity
    }

    pub(crate) fn statistics(&self) -> PageCacheStatistics {
        PageCacheStatistics {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            bytes: self.entries.as_ref().map_or(0, Cache::weight),
        }
    }
}

/// An answer that was just rendered.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) entity: Arc<Entity>,
    /// It shows what was asked for. Where a change came between, the answer is right, but not kept.
    pub(crate) is_of_key: bool,
}
