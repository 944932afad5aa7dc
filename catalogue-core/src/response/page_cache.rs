//! [`PageCache`]: rendered responses, cached by what they depend on.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::error::ApiError;
use crate::panic_guard::catch_panic;
use crate::response::cache_key::CacheKey;
use crate::response::entity::Entity;
use crate::storage::{StorageError, StorageErrorKind};

/// Usual size of a page of fifty in bytes, for the cache's initial layout.
const TYPICAL_WEIGHT: usize = 16 << 10;

/// Overhead of an entry besides its key and response, in bytes, measured with many small responses.
const ENTRY_OVERHEAD: usize = 256;

/// Cause in the log for a waiter whose request failed because the concurrent rendering failed.
const LEADER_FAILED: &str = "the concurrent request that rendered this response failed; see its log line";

/// Hits, misses and size of the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCacheStatistics {
    /// Responses that were found in the cache.
    pub hits: u64,
    /// Responses that were not found and had to be rendered. Requests that cannot use the cache are not counted.
    pub misses: u64,
    /// Upper bound of the bytes that the cached responses now occupy, with their compressed variants and keys.
    pub bytes: u64,
}

/// Rendered responses, up to a number of bytes. None is stale: after a change, the old revision is not requested again.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// `None` if caching is disabled.
    entries: Option<Cache<CacheKey, SharedEntity, ByteWeighter>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Result that the waiters for a response get. Only a response stays in the cache.
type SharedEntity = Result<Arc<Entity>, Unshared>;

/// Reason why the waiters do not get the response that the first request rendered.
#[derive(Clone, Copy, Debug)]
enum Unshared {
    /// Rendering failed. Waiters fail too: if they tried again, they could wait for the same error once more.
    Failed(StorageErrorKind),
    /// The result is only for the request that rendered it; the waiters render on their own, concurrently.
    NotCacheable,
}

#[derive(Clone, Debug)]
struct ByteWeighter;

impl Weighter<CacheKey, SharedEntity> for ByteWeighter {
    fn weight(&self, key: &CacheKey, shared: &SharedEntity) -> u64 {
        let body = shared.as_ref().map_or(0, |entity| entity.weight());
        let bytes = key.weight() + body + ENTRY_OVERHEAD;
        // The allocator adds about an eighth to large allocations.
        (bytes + bytes / 8) as u64
    }
}

impl PageCache {
    /// Creates a cache of at most `bytes` bytes; 0 disables caching.
    pub(crate) fn new(bytes: usize) -> Self {
        let entries = (bytes > 0).then(|| Cache::with_weighter(bytes / TYPICAL_WEIGHT, bytes as u64, ByteWeighter));
        Self { entries, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// Returns the cached response, if there is one.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<Arc<Entity>> {
        let entity = self.entries.as_ref()?.get(key)?.ok()?;
        Some(self.hit(entity))
    }

    /// Returns the cached response or renders it. Concurrent requests for the same key wait for the first and share its
    /// result or failure; if the first is dropped, a waiter takes over.
    pub(crate) async fn get_or_render(
        &self,
        key: &CacheKey,
        render: impl Future<Output = Result<Rendered, ApiError>>,
    ) -> Result<Arc<Entity>, ApiError> {
        let Some(entries) = &self.entries else {
            return render.await.map(|rendered| rendered.entity);
        };
        let guard = match entries.get_value_or_guard_async(key).await {
            Ok(Ok(entity)) => return Ok(self.hit(entity)),
            Ok(Err(Unshared::Failed(kind))) => return Err(StorageError::new(kind, LEADER_FAILED).into()),
            Ok(Err(Unshared::NotCacheable)) => None,
            Err(guard) => Some(guard),
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let Some(guard) = guard else {
            return render.await.map(|rendered| rendered.entity);
        };
        // A panic counts as a failure; otherwise each waiter would render in turn, and panic too.
        let outcome =
            catch_panic(pin!(render)).await.unwrap_or_else(|panicked| Err(ApiError::Internal(panicked.into())));
        let shared = match &outcome {
            Ok(rendered) if rendered.cacheable => Ok(Arc::clone(&rendered.entity)),
            Err(ApiError::Internal(cause)) => {
                let kind = cause.downcast_ref().map_or(StorageErrorKind::Other, StorageError::kind);
                Err(Unshared::Failed(kind))
            }
            Ok(_) | Err(_) => Err(Unshared::NotCacheable),
        };
        if shared.is_err() {
            // Remove the entry first: the current waiters still get the result, but later requests do not.
            entries.remove(key);
        }
        // Ignore the error: the entry was removed above.
        let _ = guard.insert(shared);
        outcome.map(|rendered| rendered.entity)
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

/// A response that was just rendered.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) entity: Arc<Entity>,
    /// Whether the response matches its key. If the courses have changed since the lookup, it is correct, but not cached.
    pub(crate) cacheable: bool,
}
