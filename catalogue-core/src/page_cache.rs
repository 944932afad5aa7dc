//! [`PageCache`]: answers that were rendered before, kept by what they depend on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quick_cache::sync::{Cache, GuardResult};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::entity::Entity;
use crate::error::ApiError;
use crate::model::AccountId;
use crate::operation::Request;
use crate::storage::Revision;

/// How many bytes a page of fifty usually takes up, for the cache's first layout.
const USUAL_WEIGHT: usize = 16 << 10;

/// What an entry takes up beside its bytes: header values, counters of references, its place in the cache's table. In
/// bytes, measured with many small answers.
const OVERHEAD: usize = 256;

/// All that the bytes of an answer depend on, beside the code that renders them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) account: AccountId,
    pub(crate) revision: Revision,
    pub(crate) request: Request,
}

/// How often kept answers were found, and how many bytes they take up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCacheStatistics {
    /// Answers that were found.
    pub hits: u64,
    /// Answers that were not found and had to be rendered. Where nothing can be kept, nothing is counted.
    pub misses: u64,
    /// Bytes that the kept answers take up at most, with their compressed forms and keys.
    pub bytes: u64,
}

/// Rendered answers, up to a number of bytes. An answer is never stale: a change gives its account another revision, and
/// the old one is not asked for again.
#[derive(Debug)]
pub(crate) struct PageCache {
    /// `None` where nothing is kept.
    entries: Option<Cache<Key, Arc<Entity>, Bytes>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Arc<Entity>> for Bytes {
    fn weight(&self, key: &Key, entity: &Arc<Entity>) -> u64 {
        let texts = key.account.as_str().len() + key.request.weight();
        let bytes = size_of::<Key>() + texts + entity.weight() + OVERHEAD;
        // What the allocator adds to large ones is about an eighth.
        (bytes + bytes / 8) as u64
    }
}

impl PageCache {
    /// A cache of at most that many bytes; with 0 nothing is kept.
    pub(crate) fn new(bytes: usize) -> Self {
        let entries = (bytes > 0).then(|| {
            let options = OptionsBuilder::new()
                .weight_capacity(bytes as u64)
                .estimated_items_capacity(bytes / USUAL_WEIGHT)
                .build()
                .expect("both bounds are given");
            Cache::with_options(
                options,
                Bytes,
                DefaultHashBuilder::default(),
                quick_cache::sync::DefaultLifecycle::default(),
            )
        });
        Self { entries, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The kept answer, if there is one.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Entity>> {
        let entity = self.entries.as_ref()?.get(key)?;
        Some(self.hit(entity))
    }

    /// The kept answer, or a new one. While one caller renders it, others who ask for the same wait for it; where nothing
    /// comes of that, each of them renders on its own, so that they do not fail one after the other.
    pub(crate) async fn get_or_render(
        &self,
        key: &Key,
        render: impl Future<Output = Result<Fresh, ApiError>>,
    ) -> Result<Arc<Entity>, ApiError> {
        let Some(entries) = &self.entries else {
            return render.await.map(Fresh::into_entity);
        };
        let place = match entries.get_value_or_guard(key, Some(Duration::ZERO)) {
            GuardResult::Value(entity) => return Ok(self.hit(entity)),
            GuardResult::Guard(place) => Some(place),
            GuardResult::Timeout => match entries.get_value_or_guard_async(key).await {
                Ok(entity) => return Ok(self.hit(entity)),
                Err(_) => None,
            },
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let fresh = render.await?;
        if let (Fresh::OfTheRevision(entity), Some(place)) = (&fresh, place) {
            // It may be too large, or its place taken meanwhile; then it is not kept.
            let _ = place.insert(Arc::clone(entity));
        }
        Ok(fresh.into_entity())
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
pub(crate) enum Fresh {
    /// The account's revision was the same before and after the courses were read, so they are of that revision.
    OfTheRevision(Arc<Entity>),
    /// A change came between. The answer is right, but it must not be kept under the revision that was asked for.
    Changed(Arc<Entity>),
}

impl Fresh {
    fn into_entity(self) -> Arc<Entity> {
        match self {
            Self::OfTheRevision(entity) | Self::Changed(entity) => entity,
        }
    }
}
